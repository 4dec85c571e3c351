import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bitsOf, hasBit } from './number-bits.ts'

test('a set of bits has the numbers that it was made of, and no others', () => {
  const number = fc.nat({ max: 200 })
  fc.assert(
    fc.property(fc.array(number), fc.array(number), (numbers, others) => {
      const bits = bitsOf(numbers)

      for (const one of [...numbers, ...others]) expect(hasBit(bits, one)).toBe(numbers.includes(one))
    }),
  )
})
