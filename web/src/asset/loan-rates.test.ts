import { expect, test } from 'vitest'
import { yearlyInterest } from './loan-rates.ts'

test('a smaller number is a higher rate', () => {
  expect(yearlyInterest(38_880_000_000_000)).toBe(0.08)
  expect(yearlyInterest(17_279_982_720_000)).toBeCloseTo(0.18, 5)
  expect(yearlyInterest(0)).toBe(0)
})
