import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BoundedCache } from '../../../src/bounded-cache.ts'
import { clientAddress } from '../../../src/http/client-address.ts'
import { CostBudget } from '../../../src/http/cost-budget.ts'
import { OneSecondCache } from '../../../src/work/one-second-cache.ts'

/**
 * Fills a cache with names that were cut from long texts, and sends how many bytes of memory it holds. In a process of its own,
 * because collecting the garbage of a process that has run many test files takes seconds.
 */
const [which = '', names = '', textLength = ''] = process.argv.slice(2)
const NAMES = Number(names)
const LONG = 'x'.repeat(Number(textLength))

/** A name as a request has it: a part of an address with a long query, or of a long header. */
const cutFrom = (name: string) =>
  Buffer.from(`${LONG}${name}`, 'latin1').toString('latin1').slice(LONG.length)

const FILLS: Readonly<Record<string, () => object | Promise<object>>> = {
  'bounded-cache': () => {
    const cache = new BoundedCache<number>(1_000_000)
    for (let n = 0; n < NAMES; n++) cache.set(cutFrom(`a name of a token ${n}`), n, 0)
    return cache
  },
  'one-second-cache': async () => {
    const cache = new OneSecondCache<number>()
    for (let n = 0; n < NAMES; n++) await cache.get(cutFrom(`a name of an event ${n}`), async () => n)
    return cache
  },
  'cost-budget': () => {
    const budget = new CostBudget(10)
    // Only the address of a socket is read
    const socket = { remoteAddress: '127.0.0.1' } as never
    for (let n = 0; n < NAMES; n++) {
      const ip = cutFrom(`198.151.${100 + Math.floor(n / 100)}.${100 + (n % 100)}`)
      budget.bucketOf(clientAddress({ ip, socket }))
    }
    return budget
  },
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function usedBytes(): Promise<number> {
  for (let turn = 0; turn < 4; turn++) {
    await setTimeout(5)
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const before = await usedBytes()
const held = await FILLS[which]!()
const bytes = (await usedBytes()) - before
process.send?.({ bytes, isHeld: Object.keys(held).length > 0 })
process.disconnect()
