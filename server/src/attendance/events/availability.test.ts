import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codeTotals } from './availability.ts'

test('codes that the issuer no longer accepts are not counted', () => {
  expect(codeTotals({ free: 5, held: 1, used: 2, used_elsewhere: 3, void: 9 })).toEqual({
    total: 11,
    available: 5,
    claimed: 6,
  })
})

test('every code that counts is either available or claimed', () => {
  const count = fc.nat(100_000)
  const counts = fc.record({ free: count, held: count, used: count, used_elsewhere: count, void: count })

  fc.assert(
    fc.property(counts, (given) => {
      const { total, available, claimed } = codeTotals(given)
      expect(available + claimed).toBe(total)
      expect(codeTotals({ ...given, void: 0 })).toEqual({ total, available, claimed })
    }),
    { seed: 5 },
  )
})
