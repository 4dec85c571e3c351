import type { SaleParts } from '../../state/parts/parts.ts'
import { SALE_TABLES } from '../../state/parts/parts.ts'
import { compareDecimals } from '../../state/parts/price-ranks.ts'
import { compareSales } from '../../state/parts/sales.ts'

export interface SaleOrder {
  readonly by: 'time' | 'price'
  readonly order: 'asc' | 'desc'
}

/** The place of a sale in every order. It is valid at later revisions too, also where the sale was undone since. */
export interface SalePlace {
  readonly price: string
  readonly timeMs: number
  /** Position of its log in its block; -1 where it is unknown. */
  readonly logIndex: number
  readonly table: (typeof SALE_TABLES)[number]
  readonly key: number
}

export function placeOfSale(sales: SaleParts, sale: number): SalePlace {
  return {
    price: sales.price[sale]!,
    timeMs: sales.timeMs[sale]!,
    logIndex: sales.logIndex[sale]!,
    table: SALE_TABLES[sales.table[sale]!]!,
    key: sales.key[sale]!,
  }
}

/** Less than 0 where the first sale comes first. Sales of one price are listed newest first. */
export function saleOrder(sales: SaleParts, { by, order }: SaleOrder): (a: number, b: number) => number {
  const sign = order === 'asc' ? 1 : -1
  if (by === 'time') return (a, b) => sign * (a - b)
  return (a, b) => sign * comparePrices(sales, a, sales.price[b]!, sales.roundedPrice[b]!) || b - a
}

/** Whether a sale comes behind a place. */
export function isBehindSale(
  sales: SaleParts,
  { by, order }: SaleOrder,
  place: SalePlace,
): (sale: number) => boolean {
  const sign = order === 'asc' ? 1 : -1
  const columns = {
    ...{ timeMs: Float64Array.of(place.timeMs), logIndex: Int32Array.of(place.logIndex) },
    ...{ table: Uint8Array.of(SALE_TABLES.indexOf(place.table)), key: Float64Array.of(place.key) },
  }
  const inTime = (sale: number) => compareSales(sales, sale, columns, 0)
  if (by === 'time') return (sale) => sign * inTime(sale) > 0
  const rounded = Number(place.price)
  return (sale) => (sign * comparePrices(sales, sale, place.price, rounded) || -inTime(sale)) > 0
}

/** Numbers decide where they differ: they are the nearest to the exact prices. */
function comparePrices(sales: SaleParts, sale: number, price: string, rounded: number): number {
  return sales.roundedPrice[sale]! - rounded || compareDecimals(sales.price[sale]!, price)
}

/**
 * The first of some numbers in an order.
 *
 * @param limit how many at most
 * @example
 * firstInOrder(Uint32Array.of(5, 3, 9), (a, b) => a - b, 2) // [3, 5]
 */
export function firstInOrder(
  numbers: Uint32Array,
  compare: (a: number, b: number) => number,
  limit: number,
): number[] {
  const first: number[] = []
  let last = -1
  for (const number of numbers) {
    if (last >= 0 && compare(number, last) > 0) continue
    first.push(number)
    // Sorting now and then keeps the list short, and most of the others are not added to it at all.
    if (first.length < 2 * limit) continue
    first.sort(compare).length = limit
    last = first[limit - 1]!
  }
  return first.sort(compare).slice(0, limit)
}
