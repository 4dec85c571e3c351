import { expect, test } from 'vitest'
import { barsOf, claimsSince, scaleTop } from './claims-by-minute.ts'

const NOW_MS = Date.UTC(2026, 10, 20, 20, 30, 59)
const MINUTES = [
  { minute: '2026-11-20T20:27:00.000Z', claims: 4 },
  { minute: '2026-11-20T20:30:00.000Z', claims: 2 },
]

test('minutes without claims have a bar of their own, and the last bar is the current minute', () => {
  expect(barsOf(MINUTES, NOW_MS, 5).map(({ claims }) => claims)).toEqual([0, 4, 0, 0, 2])
  expect(barsOf(MINUTES, NOW_MS, 5).at(-1)?.atMs).toBe(Date.UTC(2026, 10, 20, 20, 30))
})

test('minutes before the first bar are left out', () => {
  expect(barsOf(MINUTES, NOW_MS, 3).map(({ claims }) => claims)).toEqual([0, 0, 2])
  expect(claimsSince(MINUTES, NOW_MS, 3)).toBe(2)
  expect(claimsSince(MINUTES, NOW_MS, 4)).toBe(6)
})

test('where the clock of the device is slow, the last bar is the newest minute of the report', () => {
  expect(barsOf(MINUTES, NOW_MS - 3_600_000, 2).map(({ claims }) => claims)).toEqual([0, 2])
})

test.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [10, 10],
  [37, 50],
  [1_001, 2_000],
])('with at most %i claims in a minute the scale ends at %i', (claims, top) => {
  expect(scaleTop([{ claims: 0 }, { claims }])).toBe(top)
})
