import { firstBeyond } from './merge-rows.ts'

/**
 * Prices in ascending order, each once and in its shortest form. The index of a price is its rank. Publications are
 * sorted by rank, because a price can have more digits than a number holds.
 */
export type PriceList = readonly string[]

export interface GrownPrices {
  readonly prices: PriceList
  /** The new rank of each old price, by old rank; undefined where no rank has changed. */
  readonly rankOfOld: Uint32Array | undefined
  /** The rank of each added price. */
  readonly ranks: Uint32Array
}

/**
 * Adds prices to a list.
 *
 * @example
 * addPrices(['1', '20'], ['3.50']) // { prices: ['1', '3.5', '20'], rankOfOld: [0, 2], ranks: [1] }
 */
export function addPrices(prices: PriceList, added: readonly string[]): GrownPrices {
  const wanted = added.map(shortest)
  const newPrices = [...new Set(wanted)]
    .filter((price) => prices[indexOf(prices, price)] !== price)
    .sort(compareShortest)
  const grown = newPrices.length === 0 ? prices : merge(prices, newPrices)
  const rankOf = new Map([...new Set(wanted)].map((price) => [price, indexOf(grown, price)]))
  const ranks = Uint32Array.from(wanted, (price) => rankOf.get(price)!)
  if (grown === prices) return { prices, rankOfOld: undefined, ranks }
  return { prices: grown, rankOfOld: newRanks(prices, newPrices), ranks }
}

function merge(prices: PriceList, newPrices: PriceList): PriceList {
  const merged: string[] = []
  let from = 0
  for (const price of newPrices) {
    const place = indexOf(prices, price)
    while (from < place) merged.push(prices[from++]!)
    merged.push(price)
  }
  while (from < prices.length) merged.push(prices[from++]!)
  return merged
}

/** The rank of each old price grows by the number of new prices below it. */
function newRanks(prices: PriceList, newPrices: PriceList): Uint32Array {
  const places = newPrices.map((price) => indexOf(prices, price))
  let below = 0
  return Uint32Array.from(prices, (_, rank) => {
    while (below < places.length && places[below]! <= rank) below++
    return rank + below
  })
}

/** The rank of the lowest price that is not below this one; the number of prices if all are. */
export function rankFrom(prices: PriceList, price: string): number {
  return indexOf(prices, shortest(price))
}

/** The index of a price in its shortest form, or where it would be inserted. */
function indexOf(prices: PriceList, price: string): number {
  return firstBeyond(prices, 0, (other) => compareShortest(other, price) >= 0)
}

/**
 * Orders two non-negative decimals by value, however many digits they have.
 *
 * @example
 * compareDecimals('10.5', '9.75') // 1
 */
export function compareDecimals(left: string, right: string): number {
  return compareShortest(shortest(left), shortest(right))
}

function compareShortest(left: string, right: string): number {
  const longer = wholeDigits(left) - wholeDigits(right)
  if (longer !== 0) return Math.sign(longer)
  return left < right ? -1 : left > right ? 1 : 0
}

function wholeDigits(decimal: string): number {
  const point = decimal.indexOf('.')
  return point < 0 ? decimal.length : point
}

/** Without zeros at the end of the decimals: "1.50" is "1.5". */
function shortest(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
}
