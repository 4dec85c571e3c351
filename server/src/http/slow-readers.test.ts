import fc from 'fast-check'
import { expect, test } from 'vitest'
import { periodOf } from './slow-readers.ts'

const LIMITS = { timeoutMs: 30_000, bytesPerSecond: 1_000 }

/** When a client that takes `taken(second)` bytes in all until each second is cut, in seconds; undefined: never. */
function cutAfter(taken: (second: number) => number, limits = LIMITS, seconds = 600): number | undefined {
  let period = periodOf(undefined, { waiting: 1, taken: taken(0) }, 0, limits)
  for (let second = 1; second <= seconds && period; second++) {
    period = periodOf(period, { waiting: 1, taken: taken(second) }, second * 1_000, limits)
    if (!period) return second
  }
  return undefined
}

test('a client that takes nothing is cut after the time, one that takes a byte now and then too', () => {
  expect(cutAfter(() => 5_000)).toBe(30)
  expect(cutAfter((second) => Math.floor(second / 29))).toBe(30)
  // What it took at first does not count for ever.
  expect(cutAfter((second) => (second < 10 ? 0 : 3_000_000))).toBe(40)
})

test('a client that takes enough on average is not cut, however irregularly', () => {
  expect(cutAfter((second) => 1_000 * second)).toBeUndefined()
  expect(cutAfter((second) => 30_000 * Math.floor(second / 29))).toBeUndefined()
  fc.assert(
    fc.property(fc.integer({ min: 1_000, max: 10_000_000 }), (rate) => {
      expect(cutAfter((second) => rate * second)).toBeUndefined()
    }),
    { numRuns: 20 },
  )
})

test('without a rate, one byte in the time is enough', () => {
  const limits = { timeoutMs: 30_000, bytesPerSecond: 0 }

  expect(cutAfter((second) => Math.floor(second / 29), limits)).toBeUndefined()
  expect(cutAfter(() => 7, limits)).toBe(30)
})
