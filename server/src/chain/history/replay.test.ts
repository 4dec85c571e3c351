import { expect, test } from 'vitest'
import type { Ground } from '../../land/snapshot/ground.ts'
import { replay } from './replay.ts'
import type { LogsOfRange, Spool } from './spool.ts'
import { TokenTrail } from './token-trail.ts'

function replayOf(ranges: readonly (readonly [first: number, last: number])[], last: number) {
  const spool: Pick<Spool, 'firstBlock' | 'ranges'> = {
    firstBlock: 100,
    async *ranges(): AsyncGenerator<LogsOfRange> {
      for (const [first, end] of ranges) yield { first, last: end, lastHash: '0x', logs: [] }
    },
  }
  return replay(spool, {
    ground: GROUND,
    trail: new TokenTrail(),
    context: {
      contracts: { estateRegistry: null, legacyMarketplace: null, bids: null, rentals: null },
    },
    eventsOf: async () => [],
    last,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  })
}
const GROUND: Ground = { parcels: [], districts: [], contributions: [], chain: undefined }

test('a history that reaches the block is replayed, also where it goes further or there is none yet', async () => {
  await replayOf(
    [
      [100, 109],
      [110, 119],
    ],
    119,
  )
  await replayOf(
    [
      [100, 109],
      [110, 119],
    ],
    105,
  )
  await replayOf([], 99)
})

test.each([
  {
    ranges: [
      [100, 109],
      [110, 119],
    ],
    missing: 120,
  },
  {
    ranges: [
      [100, 109],
      [120, 129],
    ],
    missing: 110,
  },
  { ranges: [[110, 129]], missing: 100 },
  { ranges: [], missing: 100 },
] as const)('a history without block $missing makes no world', async ({ ranges, missing }) => {
  await expect(replayOf(ranges, 125)).rejects.toThrow(`lack block ${missing}`)
})
