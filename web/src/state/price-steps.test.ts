import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FIRST_PRICE_INK, PRICE_STEPS } from '../map/inks.ts'
import { priceInk, priceSteps } from './price-steps.ts'

const DEAREST_INK = FIRST_PRICE_INK + PRICE_STEPS - 1

test('many prices make as many steps as there are inks, of about equally many offers', () => {
  const steps = priceSteps(Array.from({ length: 700 }, (_, i) => 2 ** (i % 100)))

  expect(steps.length).toBe(PRICE_STEPS)
  for (const { count } of steps) expect(Math.abs(count - 100)).toBeLessThanOrEqual(7)
})

test('equal prices are of the same step, and the outermost inks are always used', () => {
  expect(priceSteps([5, 1, 5, 5])).toEqual([
    { from: 1, to: 1, count: 1, ink: FIRST_PRICE_INK },
    { from: 5, to: 5, count: 3, ink: DEAREST_INK },
  ])
})

test('without offers there are no steps, and one offer is one step', () => {
  expect(priceSteps([])).toEqual([])
  expect(priceSteps([7])).toEqual([{ from: 7, to: 7, count: 1, ink: FIRST_PRICE_INK }])
})

test('every price lies in exactly one step, dearer steps have other inks, and the counts are those of the offers', () => {
  const prices = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, noNaN: true })))
  fc.assert(
    fc.property(prices, (some) => {
      const steps = priceSteps(some)

      for (const [i, step] of steps.entries()) {
        const inside = some.filter((price) => price >= step.from && price <= step.to)
        expect(inside.length).toBe(step.count)
        for (const price of inside) expect(priceInk(steps, price)).toBe(step.ink)
        if (i > 0) expect(step.from).toBeGreaterThan(steps[i - 1]!.to)
        if (i > 0) expect(step.ink).toBeGreaterThan(steps[i - 1]!.ink)
      }
      expect(steps.reduce((sum, { count }) => sum + count, 0)).toBe(some.length)
    }),
  )
})
