import fc from 'fast-check'
import { expect, test } from 'vitest'
import { priceScale } from './price-scale.ts'

const prices = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 1e-18, max: 1e25, noNaN: true })), {
  minLength: 1,
  maxLength: 300,
})

test('every price is on the axis, dearer ones higher', () => {
  fc.assert(
    fc.property(prices, (some) => {
      const { position } = priceScale(some)
      const sorted = [...some].sort((a, b) => a - b).map(position)

      for (const [i, at] of sorted.entries()) {
        expect(at).toBeGreaterThanOrEqual(-1e-9)
        expect(at).toBeLessThanOrEqual(1 + 1e-9)
        expect(at).toBeGreaterThanOrEqual((sorted[i - 1] ?? 0) - 1e-9)
      }
    }),
  )
})

test('two to seven lines, the first and the last at or near the ends', () => {
  fc.assert(
    fc.property(prices, (some) => {
      const { ticks, position } = priceScale(some)

      expect(ticks.length).toBeGreaterThanOrEqual(2)
      expect(ticks.length).toBeLessThanOrEqual(7)
      expect(new Set(ticks).size).toBe(ticks.length)
      expect(position(ticks[0]!)).toBeCloseTo(0, 6)
      expect(position(ticks.at(-1)!)).toBeGreaterThan(0.6)
    }),
  )
})

test.each([
  [[4500, 9000], false, [4000, 6000, 8000, 10_000]],
  [[9000, 9500], false, [9000, 9200, 9400, 9600]],
  [[100, 90_000], true, [100, 1000, 10_000, 100_000]],
  [[1e-18, 16_787.03], true, [1e-18, 1e-12, 1e-6, 1]],
  [[0, 1000], false, [0, 500, 1000]],
  // Prices of one wei exist on the chain, and so do two that differ in their last digit alone.
  [[1e-18, 1.0000000000000003e-18], false, [1e-18, 1.000005e-18]],
])('%j', (some, isLogarithmic, ticks) => {
  const scale = priceScale(some)

  expect(scale.isLogarithmic).toBe(isLogarithmic)
  expect(scale.ticks).toEqual(ticks)
})

test.each([4500, 4000, 0, 1e-18, 1.5])(
  'a single price of %d stands within, not on an edge of nothing',
  (price) => {
    const { ticks, position } = priceScale([price])

    expect(ticks.length).toBeGreaterThanOrEqual(2)
    expect(position(price)).toBeGreaterThanOrEqual(0)
    expect(position(price)).toBeLessThan(1)
  },
)
