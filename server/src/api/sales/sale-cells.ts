import { cellOf } from '@landpass/client/grid'
import { parcelsOf } from '../land/land-rows.ts'
import type { LandView } from '../land/land-view.ts'
import type { SaleColumns } from './sale-matches.ts'

/** Prices for maps: more digits would make the answer longer and no colour another. */
const DIGITS = 6

/** What was paid for each cell (docs/sales.md). */
export interface SaleCells {
  /** Sales that count: those whose asset is on the map, and whose size is known. */
  readonly total: number
  /** Pairs, ascending: the number of a cell as in the feed, and how many from there on have the same price. */
  readonly runs: readonly number[]
  /** By run: the median price for each parcel in MANA, rounded to {@link DIGITS} digits. */
  readonly prices: readonly number[]
}

/**
 * The median price of the sales of each cell: those of the estate that has it, where that was sold; else those of the parcel.
 *
 * @param sales their numbers: see `SaleParts`
 */
export function saleCells(view: LandView, columns: SaleColumns, sales: Uint32Array): SaleCells {
  const pricesOf = new Map<number, number[]>()
  let total = 0
  for (const sale of sales) {
    const asset = columns.asset[sale]!
    if (asset < 0 || columns.size[sale] === 0) continue
    total++
    const price = columns.perParcel[sale]!
    const known = pricesOf.get(asset)
    if (known) known.push(price)
    else pricesOf.set(asset, [price])
  }
  const { minX, minY, maxX, maxY } = view.bounds
  const priceOf = new Float64Array((maxX - minX + 1) * (maxY - minY + 1)).fill(Number.NaN)
  // Estates have the lower numbers: in descending order they come after the parcels, and replace their prices.
  for (const asset of [...pricesOf.keys()].sort((a, b) => b - a)) {
    const price = Number(medianOf(pricesOf.get(asset)!).toPrecision(DIGITS))
    for (const place of parcelsOf(view, asset)) priceOf[cellOf(view.bounds, place)] = price
  }
  return { total, ...runsOf(priceOf) }
}

/** Sorts the values. */
function medianOf(values: number[]): number {
  values.sort((a, b) => a - b)
  const middle = (values.length - 1) / 2
  return (values[Math.floor(middle)]! + values[Math.ceil(middle)]!) / 2
}

/** @param priceOf by cell; not a number for those without a price */
function runsOf(priceOf: Float64Array): Pick<SaleCells, 'runs' | 'prices'> {
  const runs: number[] = []
  const prices: number[] = []
  for (let from = 0; from < priceOf.length; ) {
    const price = priceOf[from]!
    let end = from + 1
    while (priceOf[end] === price) end++
    if (!Number.isNaN(price)) {
      runs.push(from, end - from)
      prices.push(price)
    }
    from = end
  }
  return { runs, prices }
}
