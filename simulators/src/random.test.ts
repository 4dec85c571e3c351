import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Random } from './random.ts'

test('the same seed draws the same numbers, here and on every machine', () => {
  const random = new Random(1)

  expect(Array.from({ length: 6 }, () => random.below(1000))).toEqual([646, 247, 487, 870, 645, 207])
  expect(random.below(2 ** 40)).toBe(863171256946)
  expect(random.uuid()).toBe('c8b749ed-43b4-47e5-803c-1c9c644d5e03')
})

test('a fork does not depend on what was drawn before', () => {
  const fresh = new Random(7)
  const used = new Random(7)
  used.below(10)

  expect(used.fork('roads').hash()).toBe(fresh.fork('roads').hash())
  expect(fresh.fork('roads').hash()).not.toBe(fresh.fork('rivers').hash())
})

test('numbers stay in their range, and both ends occur', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: -50, max: 50 }), fc.nat(4), (seed, low, span) => {
      const random = new Random(seed)
      const drawn = new Set(Array.from({ length: 400 }, () => random.between(low, low + span)))
      expect([...drawn].sort((one, other) => one - other)).toEqual(
        Array.from({ length: span + 1 }, (_, at) => low + at),
      )
    }),
  )
})
