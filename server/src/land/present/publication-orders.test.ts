import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareDecimals, publicationOrders } from './publication-orders.ts'

test('decimals are compared by value, however many digits they have', () => {
  expect(compareDecimals('10.5', '9.75')).toBe(1)
  expect(compareDecimals('1.000000000000000001', '1.000000000000000002')).toBe(-1)
  expect(compareDecimals('1.5', '1.50')).toBe(0)
  expect(compareDecimals('1', '1.0')).toBe(0)
  expect(compareDecimals('0.1', '0')).toBe(1)
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
const time = fc.constantFrom(1, 2, 3)

test('every order sorts by its column, nulls last, ties by row', () => {
  const row = fc.record({ price: decimal, created: time, expires: time, updated: fc.option(time) })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 25 }), (rows) => {
      const orders = publicationOrders({
        price: rows.map(({ price }) => price),
        created_at: Float64Array.from(rows, ({ created }) => created),
        expires_at: Float64Array.from(rows, ({ expires }) => expires),
        block_time_updated_at: Float64Array.from(rows, ({ updated }) => updated ?? Number.NaN),
      })
      const naive = (value: (i: number) => bigint | null, sign: number) =>
        [...rows.keys()].sort((a, b) => {
          const [left, right] = [value(a), value(b)]
          if (left === right) return a - b
          if (left === null || right === null) return left === null ? 1 : -1
          return left < right ? -sign : sign
        })
      for (const [order, sign] of [
        ['asc', 1],
        ['desc', -1],
      ] as const) {
        const { price, created, expires, updated } = {
          price: (i: number) => atto(rows[i]!.price),
          created: (i: number) => BigInt(rows[i]!.created),
          expires: (i: number) => BigInt(rows[i]!.expires),
          updated: (i: number) => (rows[i]!.updated === null ? null : BigInt(rows[i]!.updated)),
        }
        expect([...orders[`price ${order}`]]).toEqual(naive(price, sign))
        expect([...orders[`created_at ${order}`]]).toEqual(naive(created, sign))
        expect([...orders[`expires_at ${order}`]]).toEqual(naive(expires, sign))
        expect([...orders[`block_time_updated_at ${order}`]]).toEqual(naive(updated, sign))
      }
    }),
    { numRuns: 200 },
  )
})

function atto(price: string): bigint {
  const [whole = '', decimals = ''] = price.split('.')
  return BigInt(whole + decimals.padEnd(18, '0'))
}
