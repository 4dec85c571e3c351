import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addPrices, compareDecimals } from './price-ranks.ts'

test('decimals are compared by value, with any number of digits', () => {
  expect(compareDecimals('10.5', '9.75')).toBe(1)
  expect(compareDecimals('1.000000000000000001', '1.000000000000000002')).toBe(-1)
  expect(compareDecimals('1.5', '1.50')).toBe(0)
  expect(compareDecimals('1', '1.0')).toBe(0)
  expect(compareDecimals('0.1', '0')).toBe(1)
  expect(compareDecimals('100', '10')).toBe(1)
  expect(compareDecimals('123456789012345678901234567890', '99999999999999999999999999999')).toBe(1)
})

const digits = fc.nat({ max: 20 }).map(String)
const decimal = fc.oneof(
  digits,
  fc
    .tuple(digits, fc.constantFrom('0', '5', '50', '000000000000000001', '000000000000000002'))
    .map(([a, b]) => `${a}.${b}`),
  fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String),
)

test('ranks have the order of the prices, and equal prices have equal ranks, after any additions', () => {
  fc.assert(
    fc.property(fc.array(fc.array(decimal, { maxLength: 12 }), { maxLength: 4 }), (additions) => {
      let prices: readonly string[] = []
      let known: { readonly price: string; readonly rank: number }[] = []
      for (const added of additions) {
        const grown = addPrices(prices, added)
        known = known.map(({ price, rank }) => ({ price, rank: grown.rankOfOld?.[rank] ?? rank }))
        known.push(...added.map((price, i) => ({ price, rank: grown.ranks[i]! })))
        if (added.every((price) => prices.some((one) => atto(one) === atto(price))))
          expect(grown.prices).toBe(prices)
        prices = grown.prices
        for (const { price, rank } of known) expect(atto(prices[rank]!)).toBe(atto(price))
        const values = prices.map(atto)
        expect(values).toEqual([...new Set(values)].sort((a, b) => (a < b ? -1 : 1)))
      }
    }),
  )
})

/** A price in units of its eighteenth decimal. */
function atto(price: string): bigint {
  const [whole = '', decimals = ''] = price.split('.')
  return BigInt(whole + decimals.padEnd(18, '0'))
}
