import { expect, test } from 'vitest'
import { secondsSince, withTimeLimit } from './clock.ts'

test('work has a time limit: its result within it, another one beyond, and its failure as it is', async () => {
  const never = new Promise<number>(() => {})

  expect(await withTimeLimit(Promise.resolve(1), 60_000, () => undefined)).toBe(1)
  expect(await withTimeLimit<number | undefined>(never, 0, () => undefined)).toBeUndefined()
  await expect(withTimeLimit(Promise.reject(new Error('no')), 60_000, () => 0)).rejects.toThrow('no')
})

test('seconds since a time are whole, and none since a time in the future', () => {
  const clock = { nowMs: () => 3_999 }
  expect([1_000, 3_000, 3_999, 5_000].map((timeMs) => secondsSince(timeMs, clock))).toEqual([2, 0, 0, 0])
})
