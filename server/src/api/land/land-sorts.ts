import { type Coord, parseCoord } from '@landpass/client/grid'
import { compareEstateIds } from '../../state/parts/estate-ids.ts'
import { compareDecimals, type PriceList } from '../../state/parts/price-ranks.ts'
import { foldedName } from './folded-names.ts'
import type { LandView } from './land-view.ts'

/**
 * The orders of `/v2/land`. Rows have a key each; those without one come last in both directions, and equal keys are ordered by
 * asset number (see `LandAssets`). So every order is total, and a place in it can be named by a value and an asset.
 */

export const SORTS = [
  ...['price', 'price_per_parcel', 'rent', 'size', 'plaza', 'road', 'name', 'expires_at'],
  ...['listed_at', 'sold_at', 'distance'],
] as readonly Sort[]
export type Sort =
  | 'price'
  | 'price_per_parcel'
  | 'rent'
  | 'size'
  | 'plaza'
  | 'road'
  | 'name'
  | 'expires_at'
  | 'listed_at'
  | 'sold_at'
  | 'distance'
export type SortOrder = 'asc' | 'desc'

export const DEFAULT_ORDERS: Readonly<Record<Sort, SortOrder>> = {
  ...{ price: 'asc', price_per_parcel: 'asc', rent: 'asc', size: 'asc', plaza: 'asc', road: 'asc' },
  ...{ name: 'asc', expires_at: 'asc', distance: 'asc', listed_at: 'desc', sold_at: 'desc' },
}

/** An order of the rows of one view. */
export interface LandOrder {
  /** Less than 0 where the first asset comes first. */
  compare(a: number, b: number): number
  /** The value of an asset, as it stands in a cursor. */
  valueOf(asset: number): SortValue
  /** A function that says whether an asset comes behind a place. The asset and the value of the place may be gone. */
  isBehind(place: SortPlace): (asset: number) => boolean
}

export type SortValue = string | number | null

export interface SortPlace {
  readonly value: SortValue
  /** `x,y` of a parcel, or `estate:<id>`. */
  readonly asset: string
}

export interface OrderQuery {
  readonly sortBy: Sort
  readonly sortOrder: SortOrder
  readonly center: Coord | undefined
}

type Key = string | number | undefined

/** How assets are sorted by one value. */
interface Keys {
  /** Numbers or texts that sort as the values do; undefined where there is no value. */
  keyOf(asset: number): Key
  valueOf(asset: number): SortValue
  /** The key of a value, which need not be among those of the assets. */
  keyOfValue(value: string | number): Key
}

export function landOrder(view: LandView, { sortBy, sortOrder, center }: OrderQuery): LandOrder {
  const keys = keysOf(view, sortBy, center)
  const sign = sortOrder === 'asc' ? 1 : -1
  const compareKeys = (a: Key, b: Key): number => {
    if (a === b) return 0
    if (a === undefined) return 1
    if (b === undefined) return -1
    return a < b ? -sign : sign
  }
  return {
    compare: (a, b) => compareKeys(keys.keyOf(a), keys.keyOf(b)) || a - b,
    valueOf: (asset) => keys.valueOf(asset),
    isBehind: ({ value, asset }) => {
      const key = value === null ? undefined : keys.keyOfValue(value)
      const number = assetNumber(view, asset)
      return (other) => (compareKeys(keys.keyOf(other), key) || other - number) > 0
    },
  }
}

function keysOf(view: LandView, sortBy: Sort, center: Coord | undefined): Keys {
  const { assets, offers, lastSales, publications } = view
  const ofOffer = (column: ArrayLike<number>) => (asset: number) => {
    const place = offers.placeOf[asset]!
    return place < 0 ? undefined : column[place]
  }
  switch (sortBy) {
    case 'price':
      return byRank(ofOffer(offers.price), offers.prices)
    case 'price_per_parcel':
      return byRank(ofOffer(offers.pricePerParcel), offers.pricesPerParcel)
    case 'expires_at':
      return byNumber(ofOffer(offers.expiresAtMs))
    case 'listed_at':
      return byNumber(ofOffer(offers.listedAtMs))
    case 'sold_at':
      return byNumber((asset) => publications.updatedAtMs[lastSales[asset]!])
    case 'size':
      return byNumber((asset) => assets.size[asset])
    case 'plaza':
    case 'road':
      return byNumber((asset) => known(assets[sortBy][asset]!))
    case 'distance': {
      const distances = squaredDistances(view, center!)
      return byNumber((asset) => distances[asset])
    }
    case 'rent':
      // There are no rental offers.
      return byNumber(() => undefined)
    case 'name': {
      const keyOf = (asset: number) => foldedName(view, asset)
      return { keyOf, valueOf: (asset) => keyOf(asset) ?? null, keyOfValue: (value) => value }
    }
  }
}

function known(distance: number): number | undefined {
  return distance < 0 ? undefined : distance
}

function byNumber(keyOf: (asset: number) => number | undefined): Keys {
  return { keyOf, valueOf: (asset) => keyOf(asset) ?? null, keyOfValue: (value) => value }
}

/** By the rank of a price: ranks change when prices come and go, so cursors have the price. */
function byRank(rankOf: (asset: number) => number | undefined, prices: PriceList): Keys {
  return {
    keyOf: rankOf,
    valueOf: (asset) => {
      const rank = rankOf(asset)
      return rank === undefined ? null : prices[rank]!
    },
    keyOfValue: (value) => {
      const rank = rankFrom(prices, String(value))
      return prices[rank] === value ? rank : rank - 0.5
    },
  }
}

/** Binary search: the rank of the lowest price that is not below this one; the number of prices if all are. */
export function rankFrom(prices: PriceList, price: string): number {
  let low = 0
  let high = prices.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareDecimals(prices[middle]!, price) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** dx² + dy² per asset; of an estate that of its nearest parcel. */
function squaredDistances({ assets, parcels }: LandView, { x, y }: Coord): Float64Array {
  const distances = new Float64Array(assets.count).fill(Number.POSITIVE_INFINITY)
  for (let row = 0; row < parcels.inWorld; row++) {
    const [dx, dy] = [parcels.x[row]! - x, parcels.y[row]! - y]
    const distance = dx * dx + dy * dy
    distances[assets.estates + row] = distance
    const estate = parcels.estate[row]!
    if (estate >= 0 && distance < distances[estate]!) distances[estate] = distance
  }
  return distances
}

/** The number of an asset; between those of its neighbours where it is gone. */
function assetNumber({ assets, estates, parcels, bounds }: LandView, name: string): number {
  const place = parseCoord(name)
  if (!place) {
    const id = name.replace('estate:', '')
    let low = 0
    let high = estates.ids.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareEstateIds(estates.ids[middle]!, id) < 0) low = middle + 1
      else high = middle
    }
    return estates.ids[low] === id ? low : low - 0.5
  }
  const height = bounds.maxY - bounds.minY + 1
  // Cells are in the order of parcels; a place of no parcel has the number of the parcel before it.
  let cell = (place.x - bounds.minX) * height + bounds.maxY - place.y
  while (cell >= 0 && (parcels.rowAt[cell] ?? -1) < 0) cell -= 1
  const before = cell < 0 ? -1 : parcels.rowAt[cell]!
  const isThere = before >= 0 && parcels.x[before] === place.x && parcels.y[before] === place.y
  return assets.estates + before + (isThere ? 0 : 0.5)
}

/**
 * The first of some assets in an order.
 *
 * @param limit how many at most
 * @example
 * firstAssets(Uint32Array.of(5, 3, 9), (a, b) => a - b, 2) // [3, 5]
 */
export function firstAssets(
  assets: Uint32Array,
  compare: (a: number, b: number) => number,
  limit: number,
): number[] {
  const first: number[] = []
  let last = -1
  for (const asset of assets) {
    if (last >= 0 && compare(asset, last) > 0) continue
    first.push(asset)
    // Sorting now and then keeps the list short, and most of the others are not added to it at all.
    if (first.length < 2 * limit) continue
    first.sort(compare).length = limit
    last = first[limit - 1]!
  }
  return first.sort(compare).slice(0, limit)
}
