import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { View } from '../../map/view.ts'
import { cacheKeyOf, drawingCost } from './map-picture.ts'
import type { ShownOffers } from './pictures.ts'

const few = fc.integer({ min: -2, max: 2 })
const requested: fc.Arbitrary<{ view: View } & ShownOffers> = fc.record({
  showsOffers: fc.boolean(),
  showsRentals: fc.boolean(),
  view: fc.record({
    widthPx: fc.constantFrom(32, 321),
    heightPx: fc.constantFrom(32, 132),
    sizePx: fc.constantFrom(0.5, 5, 5.1, 51),
    originXPx: few,
    originYPx: few,
    theme: fc.constantFrom('dark', 'light'),
    selected: fc.array(fc.record({ x: few, y: few }), { maxLength: 2 }),
  }),
})
const keyOf = ({ view, ...shown }: { view: View } & ShownOffers) => cacheKeyOf(view, shown)

test('two requests have the same cache key exactly when they are equal', () => {
  fc.assert(
    fc.property(requested, requested, (one, other) => {
      expect(keyOf(one) === keyOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(requested, (one) => {
      expect(keyOf(structuredClone(one))).toBe(keyOf(one))
    }),
  )
})

test('the largest images cost the most: by their pixels, their parcels, and how they are drawn', () => {
  const costOf = (sidePx: number, sizePx: number) =>
    Math.round(
      drawingCost({
        widthPx: sidePx,
        heightPx: sidePx,
        sizePx,
        originXPx: 0,
        originYPx: 0,
        theme: 'dark',
        selected: [],
      }),
    )

  expect([costOf(500, 10), costOf(1024, 20), costOf(2048, 20)]).toEqual([3, 6, 20])
  expect([costOf(4096, 50), costOf(4096, 5), costOf(4096, 5.1)]).toEqual([70, 237, 443])
  expect([costOf(2048, 1), costOf(256, 0.5)]).toEqual([71, 2])
})
