import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameOf, type Wish } from './pictures.ts'

const few = fc.integer({ min: -2, max: 2 })
const wish: fc.Arbitrary<Wish> = fc.record({
  showsSales: fc.boolean(),
  view: fc.record({
    widthPx: fc.constantFrom(32, 321),
    heightPx: fc.constantFrom(32, 132),
    sizePx: fc.constantFrom(0.5, 5, 51),
    originXPx: few,
    originYPx: few,
    theme: fc.constantFrom('dark', 'light'),
    selected: fc.array(fc.record({ x: few, y: few }), { maxLength: 2 }),
  }),
})

test('two wishes have one name exactly when they are the same', () => {
  fc.assert(
    fc.property(wish, wish, (one, other) => {
      expect(nameOf(one) === nameOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(wish, (one) => {
      expect(nameOf(structuredClone(one))).toBe(nameOf(one))
    }),
  )
})
