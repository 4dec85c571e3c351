import { expect, test } from 'vitest'
import type { BlockHeader } from '../chain-types.ts'
import { NewerBlocks, type NewerBlocksOptions } from './newer-blocks.ts'

const hashOf = (number: number) => `block ${number}`
const header = (number: number): BlockHeader => ({
  ...{ number, hash: hashOf(number), parentHash: hashOf(number - 1), timeS: 12 * number },
})

/** A chain whose head is set, and which counts what is asked. */
function growingChain(head: number) {
  const asked = { headers: 0, blocks: 0, most: 0 }
  let running = 0
  const chain = { head, asked, failsAt: -1 }
  const source: NewerBlocksOptions['source'] = {
    heads: async () => ({ head: header(chain.head), latest: header(chain.head), finalized: header(100) }),
    headerByNumber: async (number) => header(number),
    headerByHash: async (hash) => {
      asked.headers += 1
      return header(Number(hash.slice(hashOf(0).length - 1)))
    },
    confirmedLogs: async ({ number }) => {
      running += 1
      asked.most = Math.max(asked.most, running)
      asked.blocks += 1
      await Promise.resolve()
      running -= 1
      if (number === chain.failsAt) throw new Error('no node answers')
      return []
    },
  }
  const { signal } = new AbortController()
  const newer = new NewerBlocks(header(100), { source, until: 500, signal, eventsOfBlock: async () => [] })
  return { chain, newer }
}

test('a second reading asks only for blocks that came meanwhile, eight at a time', async () => {
  const { chain, newer } = growingChain(190)
  expect((await newer.read()).map(({ number }) => number)).toEqual(
    Array.from({ length: 90 }, (_, at) => 101 + at),
  )
  expect(chain.asked).toEqual({ headers: 89, blocks: 90, most: 8 })

  chain.head = 193
  expect((await newer.read()).at(-1)).toMatchObject({ number: 193 })
  expect(chain.asked).toEqual({ headers: 92, blocks: 93, most: 8 })
})

test('what was read before a failure is not read again, and blocks after the last one that is wanted never', async () => {
  const { chain, newer } = growingChain(140)
  chain.failsAt = 120
  await expect(newer.read()).rejects.toThrow('no node answers')
  chain.failsAt = -1
  expect(await newer.read()).toHaveLength(40)
  expect(chain.asked.blocks).toBe(41)

  chain.head = 600
  expect((await newer.read()).at(-1)).toMatchObject({ number: 500 })
})
