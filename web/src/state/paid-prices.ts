import type { SaleCells } from '@landpass/client'

/**
 * What was paid for each cell (docs/sales.md), by cell number; not a number where nothing was sold.
 *
 * @example
 * paidPrices({ runs: [1, 2], prices: [900] }, 4) // NaN, 900, 900, NaN
 */
export function paidPrices(
  { runs, prices }: Pick<SaleCells, 'runs' | 'prices'>,
  count: number,
): Float64Array {
  const ofCells = new Float64Array(count).fill(Number.NaN)
  for (const [i, price] of prices.entries()) {
    const from = runs[2 * i]!
    ofCells.fill(price, from, from + runs[2 * i + 1]!)
  }
  return ofCells
}
