/** Where prices stand on an axis, and which of them are written beside it. */
export interface Scale {
  /** 0 at the lower end of the axis, 1 at the upper. */
  position(value: number): number
  readonly ticks: readonly number[]
}

export interface PriceScale extends Scale {
  /** Whether equal distances stand for equal ratios. */
  readonly isLogarithmic: boolean
}

/**
 * From this ratio of highest to lowest price on the axis is logarithmic: on a linear one all low prices would lie at
 * the bottom.
 */
const WIDE_RATIO = 50
/** Prices that lie closer together than this part of the highest are drawn as one: labels could not tell them apart. */
const LEAST_SPREAD = 1e-5
/** About so many lines across the chart. */
const LINES = 4

/**
 * An axis for at least one price, with all of them on it; logarithmic where they are far apart.
 *
 * @example
 * priceScale([4500, 9000]).ticks // [4000, 6000, 8000, 10000]
 * priceScale([100, 90_000]).ticks // [100, 1000, 10000, 100000]
 */
export function priceScale(prices: readonly number[]): PriceScale {
  const lowest = prices.reduce((a, b) => Math.min(a, b))
  const highest = prices.reduce((a, b) => Math.max(a, b))
  // A price of 0 has no logarithm.
  return lowest > 0 && highest / lowest >= WIDE_RATIO
    ? logarithmicScale(lowest, highest)
    : evenScale(lowest, highest)
}

function logarithmicScale(lowest: number, highest: number): PriceScale {
  const from = Math.floor(Math.log10(lowest))
  const to = Math.ceil(Math.log10(highest))
  const step = Math.ceil((to - from) / LINES)
  const ticks: number[] = []
  for (let exponent = from; exponent <= to; exponent += step) ticks.push(Number(`1e${exponent}`))
  return { isLogarithmic: true, ticks, position: (price) => (Math.log10(price) - from) / (to - from) }
}

function evenScale(lowest: number, highest: number): PriceScale {
  const step = roundStep(
    (lowest === highest ? highest : Math.max(highest - lowest, highest * LEAST_SPREAD)) / LINES,
  )
  let from = Math.floor(lowest / step)
  let to = Math.ceil(highest / step)
  if (from === to) {
    from = Math.max(0, from - 1)
    to += 1
  }
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => Number(((from + i) * step).toPrecision(12)))
  return { isLogarithmic: false, ticks, position: (price) => (price / step - from) / (to - from) }
}

/** The smallest of 1, 2, 5, 10, 20, … that is no less. */
function roundStep(least: number): number {
  if (least <= 0) return 1
  const power = Number(`1e${Math.floor(Math.log10(least))}`)
  return ([1, 2, 5].find((digit) => digit * power >= least) ?? 10) * power
}
