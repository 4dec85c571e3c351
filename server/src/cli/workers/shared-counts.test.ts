import { expect, test } from 'vitest'
import { SharedCounts } from './shared-counts.ts'

test('a window begins with the first request of a sender, and each limit counts by itself', () => {
  let nowMs = 5_000
  const counts = new SharedCounts(() => nowMs)

  expect(counts.count('claim', 'ann', 1_000)).toEqual({ current: 1, ttl: 1_000 })
  nowMs += 400
  expect(counts.count('claim', 'ann', 1_000)).toEqual({ current: 2, ttl: 600 })
  expect(counts.count('claim', 'bob', 1_000)).toEqual({ current: 1, ttl: 1_000 })
  expect(counts.count('list', 'ann', 1_000)).toEqual({ current: 1, ttl: 1_000 })
  nowMs += 600
  expect(counts.count('claim', 'ann', 1_000)).toEqual({ current: 1, ttl: 1_000 })
})
