import { expect, test } from 'vitest'
import { usableForMs } from './provider.ts'

test('a result is used again for as long as it does no harm to be wrong', () => {
  const results = ['present', 'absent', 'unknown'] as const

  expect(results.map((result) => usableForMs(result, 5_000))).toEqual([5_000, 2_000, 1_000])
  expect(results.map((result) => usableForMs(result, 500))).toEqual([500, 500, 500])
  expect(results.map((result) => usableForMs(result, 0))).toEqual([0, 0, 0])
})
