const DAY_S = 24 * 60 * 60
/** The loan contract's year. */
const YEAR_S = 360 * DAY_S

/**
 * The interest of a year as a ratio, from the number of the loan contract, which divides by it:
 * interest = 100,000 · amount · seconds / rate. A smaller number is a higher rate.
 *
 * @example
 * yearlyInterest(38_880_000_000_000) // 0.08
 */
export function yearlyInterest(rate: number): number {
  return rate > 0 ? (100_000 * YEAR_S) / rate : 0
}
