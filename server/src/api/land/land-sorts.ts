import { type Coord, parseCoord } from '@landpass/client/grid'
import { compareEstateIds } from '../../state/parts/estate-ids.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { firstBeyond } from '../../state/parts/merge-rows.ts'
import type { NumberSet } from '../../state/parts/number-set.ts'
import { addPrices, type PriceList, rankFrom } from '../../state/parts/price-ranks.ts'
import type { UnlistedNow } from '../../state/parts/unlisted-offers.ts'
import { assetsOfCircle } from './area-sets.ts'
import { assetsInRange, statusSets } from './asset-sets.ts'
import { type LandView, newestOfferMs, offeredAssets } from './land-view.ts'
import { LowestKeys } from './lowest-keys.ts'
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
  /** The first of some assets; with a place those behind it. */
  first(assets: NumberSet, limit: number, behind?: SortPlace): FirstAssets
  /** The value of an asset, as it stands in a cursor. */
  valueOf(asset: number): SortPlace['value']
}

/** The assets at the beginning of an order. */
export interface FirstAssets {
  readonly assets: readonly number[]
  readonly hasMore: boolean
}

/** How assets are sorted by one value. */
interface Keys {
  /** The assets that have the value; undefined where all have it. */
  readonly valued: NumberSet | undefined
  /** No key is lower. */
  readonly lowest: number
  /** Writes a number for each of some of them, which sorts as the value does. */
  write(assets: Uint32Array, into: Float64Array): void
  valueOf(asset: number): string | number
  /** The key of a value, which no asset need have. */
  keyOfValue(value: string | number): number
}

export function landOrder(view: LandView, { sortBy, sortOrder, center }: OrderQuery): LandOrder {
  const keys = keysOf(view, sortBy, center)
  const sign = sortOrder === 'asc' ? 1 : -1
  const hasValue = (asset: number) => keys.valued?.has(asset) ?? true
  return {
    valueOf: (asset) => (hasValue(asset) ? keys.valueOf(asset) : null),
    first: (assets, limit, behind) => {
      const asset = behind ? assetNumber(view, behind.asset) : -1
      const wanted = limit + 1
      const first: number[] = []
      if (behind?.value !== null) {
        const place = { key: behind ? sign * keys.keyOfValue(behind.value) : -Infinity, asset }
        const isNearest = sortBy === 'distance' && sign === 1 && assets.count() > MANY * wanted
        const search = isNearest ? nearestAssets(view, center!) : lowestAssets
        first.push(...search(assets, keys, { sign, place, wanted }))
      }
      if (first.length < wanted && keys.valued) {
        const others = new Uint32Array(wanted - first.length)
        const from = behind?.value === null ? Math.floor(asset) + 1 : 0
        const count = assets.copy().deleteAll(keys.valued).read(others, from)
        first.push(...others.subarray(0, count))
      }
      return { assets: first.slice(0, limit), hasMore: first.length === wanted }
    },
  }
}

/** With at least so many assets for each that is wanted the nearest are looked for in circles; with fewer, that costs more than keys. */
const MANY = 100
/** So many assets are looked at in one go: their keys stay in the cache of the processor. */
const BLOCK = 1024
/** The searches use these in turn: no search yields while it uses them. */
const block = new Uint32Array(BLOCK)
const keysOfBlock = new Float64Array(BLOCK)

interface Wanted {
  /** -1 for descending keys. */
  readonly sign: number
  /** Only assets behind it are wanted. */
  readonly place: { readonly key: number; readonly asset: number }
  readonly wanted: number
}

/** The first assets with a key behind a place, by key, then by number. */
function lowestAssets(
  assets: NumberSet,
  { valued, write, lowest }: Keys,
  { sign, place, wanted }: Wanted,
): number[] {
  const first = new LowestKeys(wanted)
  for (let from = 0; ; from = block[BLOCK - 1]! + 1) {
    const count = assets.read(block, from, valued)
    write(block.subarray(0, count), keysOfBlock)
    for (let i = 0; i < count; i++) {
      const key = sign * keysOfBlock[i]!
      if (key > place.key || (key === place.key && block[i]! > place.asset)) first.add(key, block[i]!)
    }
    // The first ones of equal keys are kept: where all are the lowest one, none can follow.
    const isDone = sign === 1 && first.highest <= lowest
    if (count < BLOCK || isDone) return first.list()
  }
}

/** As {@link lowestAssets}, by distance: in a circle that grows until it has enough assets, or the whole world. */
function nearestAssets(view: LandView, center: Coord): typeof lowestAssets {
  return (assets, keys, search) => {
    const passed = Math.sqrt(Math.max(0, search.place.key))
    const share = assets.count() / view.assets.count
    for (let radius = passed + Math.sqrt(search.wanted / share); ; radius *= 2) {
      const near = assetsOfCircle(view, center, radius)
      const found = lowestAssets(assets, { ...keys, valued: near }, search)
      if (found.length === search.wanted || near === view.assets.all) return found
    }
  }
}

function keysOf(view: LandView, sortBy: Sort, center: Coord | undefined): Keys {
  const { assets, offers, lastSales, estates, parcels } = view
  switch (sortBy) {
    case 'price':
      return byRank(statusSets(view).priced, writeOffered(offers.placeOf, offers.price), offers.prices)
    case 'price_per_parcel': {
      const write = writeOffered(offers.placeOf, offers.pricePerParcel)
      return byRank(statusSets(view).priced, write, offers.pricesPerParcel)
    }
    case 'expires_at': {
      const { placeOf, expiresAtMs } = offeredAssets(view)
      return byNumber(statusSets(view).open, writeOffered(placeOf, expiresAtMs))
    }
    case 'listed_at':
      return byNumber(statusSets(view).offered, writeNewest(view))
    case 'sold_at':
      return byNumber(statusSets(view).sold, writeColumn(lastSales.timeMs))
    case 'size':
      return byNumber(undefined, writeColumn(assets.size), 1)
    case 'plaza':
    case 'road':
      return byNumber(assetsInRange(assets, sortBy, 0, Infinity), writeColumn(assets[sortBy]))
    case 'distance':
      return byNumber(undefined, writeDistance(view, center!))
    case 'rent':
      return byRent(view)
    case 'name': {
      const { named, ranks, keyOf, rankOf } = nameRanks(estates.names, parcels.names, assets.count)
      return {
        valued: named,
        lowest: 0,
        write: writeColumn(ranks),
        valueOf: (asset) => keyOf(asset)!,
        keyOfValue: (value) => rankOf(String(value)),
      }
    }
  }
}

function byNumber(valued: NumberSet | undefined, write: Keys['write'], lowest = 0): Keys {
  return { valued, lowest, write, valueOf: (asset) => keyOf(write, asset), keyOfValue: Number }
}

function keyOf(write: Keys['write'], asset: number): number {
  const key = new Float64Array(1)
  write(Uint32Array.of(asset), key)
  return key[0]!
}

// Each of the next four has a loop of its own, because it may go over the whole world.

/** @param column has a value per asset */
function writeColumn(column: ArrayLike<number>): Keys['write'] {
  return (assets, into) => {
    for (let i = 0; i < assets.length; i++) into[i] = column[assets[i]!]!
  }
}

/** @param column has a value per place */
function writeOffered(placeOf: Int32Array, column: ArrayLike<number>): Keys['write'] {
  return (assets, into) => {
    for (let i = 0; i < assets.length; i++) into[i] = column[placeOf[assets[i]!]!]!
  }
}

function writeNewest(view: LandView): Keys['write'] {
  return (assets, into) => {
    for (let i = 0; i < assets.length; i++) into[i] = newestOfferMs(view, assets[i]!)
  }
}

/** dx² + dy² of an asset; of an estate that of its nearest parcel. */
function writeDistance({ assets: { estates }, parcels }: LandView, { x, y }: Coord): Keys['write'] {
  const ofRow = (row: number) => {
    const [dx, dy] = [parcels.x[row]! - x, parcels.y[row]! - y]
    return dx * dx + dy * dy
  }
  const ofEstate = (estate: number) => {
    let nearest = Infinity
    for (const row of rowsOfEstate(parcels.estate, estate))
      if (row < parcels.inWorld) nearest = Math.min(nearest, ofRow(row))
    return nearest
  }
  return (assets, into) => {
    for (let i = 0; i < assets.length; i++) {
      const asset = assets[i]!
      into[i] = asset < estates ? ofEstate(asset) : ofRow(asset - estates)
    }
  }
}

/** Prices of rents, and per asset the rank of its own: cached as long as the offers are. */
const rentsOf = new WeakMap<UnlistedNow, { readonly prices: PriceList; readonly rankOf: Uint32Array }>()

function byRent(view: LandView): Keys {
  const { unlisted, assets } = view
  const known = rentsOf.get(unlisted)
  const { prices, rankOf } = known?.rankOf.length === assets.count ? known : rankRents(view)
  return byRank(statusSets(view).for_rent, writeColumn(rankOf), prices)
}

function rankRents({ unlisted, assets }: LandView) {
  const { rentals } = unlisted
  const { prices, ranks } = addPrices(
    [],
    Array.from(rentals.values(), ({ price }) => price),
  )
  const rankOf = new Uint32Array(assets.count)
  for (const [i, asset] of [...rentals.keys()].entries()) rankOf[asset] = ranks[i]!
  rentsOf.set(unlisted, { prices, rankOf })
  return { prices, rankOf }
}

/** By the rank of a price: ranks change when prices come and go, so cursors have the price. */
function byRank(valued: NumberSet, write: Keys['write'], prices: PriceList): Keys {
  return {
    valued,
    lowest: 0,
    write,
    valueOf: (asset) => prices[keyOf(write, asset)]!,
    keyOfValue: (value) => {
      const rank = rankFrom(prices, String(value))
      return prices[rank] === value ? rank : rank - 0.5
    },
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
