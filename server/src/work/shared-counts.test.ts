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

test('where 20,000 senders are counted, the least recently counted one begins anew, and no other', () => {
  const counts = new SharedCounts(() => 0)
  const current = (sender: number) => counts.count('wallet', String(sender), 1_000).current

  for (let sender = 0; sender < 20_000; sender++) current(sender)
  expect(current(0)).toBe(2)
  current(20_000)
  expect([current(0), current(2), current(1)]).toEqual([3, 2, 1])
})
