import { expect, test } from 'vitest'
import { MemoryRows } from '../../land/events/memory-rows.ts'
import { replay } from './replay.ts'
import type { StoredRange } from './spool-frames.ts'
import { TokenTrail } from './token-trail.ts'

function replayOf(ranges: readonly (readonly [first: number, last: number])[], last: number) {
  const stored = {
    async *ranges(): AsyncGenerator<StoredRange> {
      for (const [first, end] of ranges) yield { first, last: end, lastHash: '0x', parts: noLogs() }
    },
  }
  return replay(stored, {
    rows: new MemoryRows(),
    trail: new TokenTrail(),
    firstBlock: 100,
    context: {
      contracts: { estateRegistry: null, legacyMarketplace: null, bids: null, rentals: null },
    },
    eventsOf: async () => [],
    last: () => last,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  })
}

async function* noLogs(): AsyncGenerator<never> {
  // The ranges of these tests are empty.
}

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
