import { expect, test } from 'vitest'
import { heldBytes } from '../test/support/run/held-memory.ts'
import { OneSecondCache } from './attendance/one-second-cache.ts'
import { BoundedCache } from './bounded-cache.ts'
import { clientAddress } from './http/client-address.ts'
import { CostBudget } from './http/cost-budget.ts'
import { ownBytes } from './own-memory.ts'

const NAMES = 900
const LONG = 'x'.repeat(16_000)
/** A name as a request has it: a part of an address with a long query, or of a long header. */
const cutFrom = (name: string) =>
  Buffer.from(`${LONG}${name}`, 'latin1').toString('latin1').slice(LONG.length)

test('bytes that are a part of others are copied, and others are not', () => {
  const [small, large] = [Buffer.from('a few bytes'), Buffer.alloc(10_000, 7)]
  expect([ownBytes(small).buffer.byteLength, ownBytes(small).equals(small)]).toEqual([small.length, true])
  expect(ownBytes(large)).toBe(large)
})

test.each([
  [
    'a cache by bytes',
    () => {
      const cache = new BoundedCache<number>(1_000_000)
      for (let n = 0; n < NAMES; n++) cache.set(cutFrom(`a name of a token ${n}`), n, 0)
      return cache
    },
  ],
  [
    'a cache of one second',
    async () => {
      const cache = new OneSecondCache<number>()
      for (let n = 0; n < NAMES; n++) await cache.get(cutFrom(`a name of an event ${n}`), async () => n)
      return cache
    },
  ],
  [
    'the budgets of clients',
    () => {
      const budget = new CostBudget(10)
      const socket = { remoteAddress: '127.0.0.1' } as never
      for (let n = 0; n < NAMES; n++) {
        const ip = cutFrom(`198.151.${100 + Math.floor(n / 100)}.${100 + (n % 100)}`)
        budget.bucketOf(clientAddress({ ip, socket }))
      }
      return budget
    },
  ],
])(
  '%s keeps the names that it was given, and not the texts that they were cut from',
  async (_which, fill) => {
    const { held, bytes } = await heldBytes<object>(fill)

    expect(held).toBeDefined()
    expect(bytes).toBeLessThan((NAMES * LONG.length) / 4)
  },
)
