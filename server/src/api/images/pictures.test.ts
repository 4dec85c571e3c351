import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cacheKeyOf, type PictureRequest } from './pictures.ts'

const few = fc.integer({ min: -2, max: 2 })
const pictureRequest: fc.Arbitrary<PictureRequest> = fc.record({
  showsOffers: fc.boolean(),
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

test('two requests have the same cache key exactly when they are equal', () => {
  fc.assert(
    fc.property(pictureRequest, pictureRequest, (one, other) => {
      expect(cacheKeyOf(one) === cacheKeyOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(pictureRequest, (one) => {
      expect(cacheKeyOf(structuredClone(one))).toBe(cacheKeyOf(one))
    }),
  )
})
