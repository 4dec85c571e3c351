import { expect, test } from 'vitest'
import type { BlockHeader } from '../chain-types.ts'
import { callData, findLoanTerms, readLoanTerms, wordOf } from './loan-terms.ts'

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

test('a loan of a block that is not final is read after that block, and not after a head without it', async () => {
  const headerOf = (number: number, hash: string): BlockHeader => ({ number, hash, parentHash: '', timeS: 0 })
  const heads = async () => ({ head: headerOf(104, 'of a node that lags'), finalized: headerOf(90, 'final') })
  const read = async (_data: string, hash: string) =>
    hash === 'of a node that lags' ? '0x' : `0x${'1'.padStart(64, '0')}`
  const loanOf = (number: number, hash: string) => findLoanTerms(7n, { number, hash }, { heads, read })

  expect(await loanOf(105, 'newer')).toMatchObject({ amountWei: 1n })
  expect(await loanOf(104, 'of another branch')).toMatchObject({ amountWei: 1n })
  expect(await loanOf(90, 'final')).toBeUndefined() // Read after the head, which has everything that is final.
})

test('a call begins with the hash of the function', () => {
  expect(callData('totalSupply()')).toBe('0x18160ddd')
})

test('what is no number is refused', () => {
  expect(() => wordOf('0x')).toThrow('returned no number')
})
