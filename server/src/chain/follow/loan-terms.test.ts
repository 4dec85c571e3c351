import { expect, test } from 'vitest'
import { callData, NoNumberError, readLoanTerms, wordOf } from './loan-terms.ts'

test('reads each term of a loan by a call of its own', async () => {
  const asked: string[] = []
  const terms = await readLoanTerms(async (data) => {
    asked.push(data)
    return `0x${asked.length.toString(16).padStart(64, '0')}`
  }, 258n)

  expect(terms).toEqual({
    amountWei: 1n,
    interestRate: 2n,
    punitoryInterestRate: 3n,
    duesInS: 4n,
    cancelableAtS: 5n,
    expiresAt: 6n,
  })
  expect(new Set(asked.map((data) => data.slice(0, 10))).size).toBe(6)
  for (const data of asked) expect(data.slice(10)).toBe('102'.padStart(64, '0'))
})

test('a call begins with the hash of the function', () => {
  expect(callData('totalSupply()')).toBe('0x18160ddd')
})

test('what is no number is refused', () => {
  expect(() => wordOf('0x')).toThrow(NoNumberError)
})
