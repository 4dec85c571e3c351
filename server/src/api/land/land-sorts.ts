import { type Coord, parseCoord } from '@landpass/client/grid'
import type { UnlistedOffer } from '../../land/records/unlisted-offer.ts'
import { compareEstateIds } from '../../state/parts/estate-ids.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { firstBeyond } from '../../state/parts/merge-rows.ts'
import { addPrices, type PriceList, rankFrom } from '../../state/parts/price-ranks.ts'
import { type LandView, type OfferOfAsset, offerOfAsset } from './land-view.ts'
import { nameRanks } from './name-ranks.ts'

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

/** A place in an order. The asset and the value need not be there any more. */
export interface SortPlace {
  /** Null where the asset had none. */
  readonly value: string | number | null
  /** `x,y` of a parcel, or `estate:<id>`. */
  readonly asset: string
}

export interface OrderQuery {
  readonly sortBy: Sort
  readonly sortOrder: SortOrder
  readonly center: Coord | undefined
}

/** An order of the rows of one view. */
export interface LandOrder {
  /** The first of some assets, which must be in ascending order; with a place those behind it. */
  first(assets: Uint32Array, limit: number, behind?: SortPlace): FirstAssets
  /** The value of an asset, as it stands in a cursor. */
  valueOf(asset: number): SortPlace['value']
}

/** The assets at the beginning of an order, and how many there are in all. */
export interface FirstAssets {
  readonly assets: readonly number[]
  readonly count: number
}

/** How assets are sorted by one value. */
interface Keys {
  /** A number from 0 that sorts as the value of an asset does; below 0: it has no value. Computed only for the assets that are sorted. */
  keyOf(asset: number): number
  valueOf(asset: number): string | number
  /** The key of a value, which no asset need have. */
  keyOfValue(value: string | number): number
}

export function landOrder(view: LandView, { sortBy, sortOrder, center }: OrderQuery): LandOrder {
  const by = keysOf(view, sortBy, center)
  const sign = sortOrder === 'asc' ? 1 : -1
  return {
    valueOf: (asset) => (by.keyOf(asset) < 0 ? null : by.valueOf(asset)),
    first: (assets, limit, behind) => {
      const key = !behind ? -Infinity : behind.value === null ? Infinity : sign * by.keyOfValue(behind.value)
      const place = { key, asset: behind ? assetNumber(view, behind.asset) : -1 }
      return firstAssets(assets, { keyOf: by.keyOf, sign }, place, limit)
    },
  }
}

/**
 * The first assets behind a place, by key, then by number. What has no key comes last.
 *
 * @param assets in ascending order
 * @param sign -1 for descending keys
 */
export function firstAssets(
  assets: Uint32Array,
  { keyOf: numberOf, sign }: { readonly keyOf: Keys['keyOf']; readonly sign: number },
  place: { readonly key: number; readonly asset: number },
  limit: number,
): FirstAssets {
  const keyOf = (asset: number) => {
    const value = numberOf(asset)
    return value < 0 ? Infinity : sign * value
  }
  const compare = (a: number, b: number) => {
    const [left, right] = [keyOf(a), keyOf(b)]
    return left < right ? -1 : left > right ? 1 : a - b
  }
  const first: number[] = []
  let last = Infinity
  let count = 0
  for (let i = 0; i < assets.length; i++) {
    const asset = assets[i]!
    const key = keyOf(asset)
    if (key < place.key || (key === place.key && asset <= place.asset)) continue
    count += 1
    // Of equal keys this one comes later: assets are in ascending order.
    if (key >= last && first.length >= limit) continue
    first.push(asset)
    // Sorting now and then keeps the list short, and most of the others are never added to it.
    if (first.length < 2 * limit) continue
    first.sort(compare).length = limit
    last = keyOf(first[limit - 1]!)
  }
  return { assets: first.sort(compare).slice(0, limit), count }
}

function keysOf(view: LandView, sortBy: Sort, center: Coord | undefined): Keys {
  const { assets, offers, unlisted, lastSales, estates, parcels } = view
  const ofOffers = (column: ArrayLike<number>) => (asset: number) => {
    const place = offers.placeOf[asset]!
    return place < 0 ? -1 : column[place]!
  }
  const ofOffered = (numberOf: (offer: OfferOfAsset) => number) => (asset: number) => {
    const offer = offerOfAsset(view, asset)
    return offer ? numberOf(offer) : -1
  }
  switch (sortBy) {
    case 'price':
      return byRank(ofOffers(offers.price), offers.prices)
    case 'price_per_parcel':
      return byRank(ofOffers(offers.pricePerParcel), offers.pricesPerParcel)
    case 'expires_at':
      return byNumber(ofOffered(({ expiresAtMs }) => expiresAtMs))
    case 'listed_at':
      return byNumber(ofOffered(({ newestAtMs }) => newestAtMs))
    case 'sold_at':
      return byNumber((asset) => lastSales.timeMs[asset]!)
    case 'size':
    case 'plaza':
    case 'road': {
      const column = assets[sortBy]
      return byNumber((asset) => column[asset]!)
    }
    case 'distance':
      return byNumber(squaredDistance(view, center!))
    case 'rent':
      return byRent(unlisted.rentals)
    case 'name': {
      const { ranks, keyOf, rankOf } = nameRanks(estates.names, parcels.names, assets.count)
      return {
        keyOf: (asset) => ranks[asset]!,
        valueOf: (asset) => keyOf(asset)!,
        keyOfValue: (value) => rankOf(String(value)),
      }
    }
  }
}

function byNumber(keyOf: Keys['keyOf']): Keys {
  return { keyOf, valueOf: keyOf, keyOfValue: Number }
}

function byRent(rentals: ReadonlyMap<number, UnlistedOffer>): Keys {
  const { prices, ranks } = addPrices(
    [],
    Array.from(rentals.values(), ({ price }) => price),
  )
  const rankOf = new Map(Array.from(rentals.keys(), (asset, i) => [asset, ranks[i]!]))
  return byRank((asset) => rankOf.get(asset) ?? -1, prices)
}

/** By the rank of a price: ranks change when prices come and go, so cursors have the price. */
function byRank(keyOf: Keys['keyOf'], prices: PriceList): Keys {
  return {
    keyOf,
    valueOf: (asset) => prices[keyOf(asset)]!,
    keyOfValue: (value) => {
      const rank = rankFrom(prices, String(value))
      return prices[rank] === value ? rank : rank - 0.5
    },
  }
}

/** dx² + dy² of an asset; of an estate that of its nearest parcel. */
function squaredDistance({ assets, parcels }: LandView, { x, y }: Coord): Keys['keyOf'] {
  const ofRow = (row: number) => {
    const [dx, dy] = [parcels.x[row]! - x, parcels.y[row]! - y]
    return dx * dx + dy * dy
  }
  return (asset) => {
    if (asset >= assets.estates) return ofRow(asset - assets.estates)
    let nearest = -1
    for (const row of rowsOfEstate(parcels.estate, asset)) {
      if (row >= parcels.inWorld) continue
      const distance = ofRow(row)
      if (nearest < 0 || distance < nearest) nearest = distance
    }
    return nearest
  }
}

/** The number of an asset; between those of its neighbours where it is gone. */
function assetNumber({ assets, estates, parcels, bounds }: LandView, name: string): number {
  const place = parseCoord(name)
  if (!place) {
    const id = name.replace('estate:', '')
    const row = firstBeyond(estates.ids, 0, (other) => compareEstateIds(other, id) >= 0)
    return estates.ids[row] === id ? row : row - 0.5
  }
  // Cells are in the order of parcels; a place of no parcel, also outside of the world, has the number of the parcel before it.
  const height = bounds.maxY - bounds.minY + 1
  const column = clamp(place.x - bounds.minX, -1, bounds.maxX - bounds.minX + 1) * height
  let cell = Math.min(column + clamp(bounds.maxY - place.y, -1, height - 1), parcels.rowAt.length - 1)
  while (cell >= 0 && parcels.rowAt[cell]! < 0) cell -= 1
  const before = cell < 0 ? -1 : parcels.rowAt[cell]!
  const isThere = before >= 0 && parcels.x[before] === place.x && parcels.y[before] === place.y
  return assets.estates + before + (isThere ? 0 : 0.5)
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(value, max))
}
