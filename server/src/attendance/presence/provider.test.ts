import { expect, test } from 'vitest'
import { usableForMs } from './provider.ts'

test('present is cached for the whole time, absent and unknown for two and one seconds at most', () => {
  const results = ['present', 'absent', 'unknown'] as const

  expect(results.map((result) => usableForMs(result, 5_000))).toEqual([5_000, 2_000, 1_000])
  expect(results.map((result) => usableForMs(result, 500))).toEqual([500, 500, 500])
  expect(results.map((result) => usableForMs(result, 0))).toEqual([0, 0, 0])
})
