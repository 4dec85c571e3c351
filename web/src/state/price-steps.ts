import { FIRST_PRICE_INK, PRICE_STEPS } from '../map/inks.ts'

/** A range of prices. */
export interface PriceStep {
  readonly from: number
  readonly to: number
  /** How many such prices there are. */
  readonly count: number
  readonly ink: number
}

/**
 * Divides prices into steps with about equally many of them: prices of land differ by powers of ten, and steps of equal
 * width would put nearly all of them into the first. Equal prices are in the same step, so there can be fewer steps
 * than inks; the lowest and the highest step always have the outermost inks.
 *
 * @example
 * priceSteps([5, 1, 5, 5]) // [{ from: 1, to: 1, count: 1, ink: 2 }, { from: 5, to: 5, count: 3, ink: 8 }]
 */
export function priceSteps(prices: ArrayLike<number>): readonly PriceStep[] {
  const sorted = Float64Array.from(prices).sort()
  const ends = stepEnds(sorted)
  return ends.map((end, i) => {
    const start = ends[i - 1] ?? 0
    return {
      from: sorted[start]!,
      to: sorted[end - 1]!,
      count: end - start,
      ink: inkOf(i, ends.length),
    }
  })
}

/** The ink of a price that is among those the steps were made of. */
export function priceInk(steps: readonly PriceStep[], price: number): number {
  const step = steps.find(({ to }) => price <= to)
  return (step ?? steps.at(-1))?.ink ?? 0
}

/** Where the steps end in the sorted prices, without the price at that place. */
function stepEnds(sorted: Float64Array): number[] {
  const ends: number[] = []
  for (let step = 1; step <= PRICE_STEPS; step++) {
    let end = Math.round((sorted.length * step) / PRICE_STEPS)
    while (end > 0 && end < sorted.length && sorted[end] === sorted[end - 1]) end++
    if (end > (ends.at(-1) ?? 0)) ends.push(end)
  }
  return ends
}

function inkOf(step: number, count: number): number {
  if (count === 1) return FIRST_PRICE_INK
  return FIRST_PRICE_INK + Math.round((step * (PRICE_STEPS - 1)) / (count - 1))
}
