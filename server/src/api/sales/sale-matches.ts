import { parseCoord } from '@landpass/client/grid'
import { manaText, weiOf } from '../../land/events/amounts.ts'
import type { AssetName } from '../../land/records/assets.ts'
import type { LandAssets } from '../../state/parts/land-assets.ts'
import { firstBeyond } from '../../state/parts/merge-rows.ts'
import { SALE_SOURCES, type SaleParts, type StateParts } from '../../state/parts/parts.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import type { Range } from '../common/land-filters.ts'
import { assetNumber, numberOfEstate, numberOfParcel } from '../land/asset-numbers.ts'
import { statusSets } from '../land/asset-sets.ts'
import { matchingAssets } from '../land/land-matches.ts'
import { type LandQuery, readLandQuery } from '../land/land-query.ts'
import type { LandView } from '../land/land-view.ts'
import type { SaleFilter } from './sales-query.ts'

/** The sales with what follows from the land as it is now, a value per sale. */
export interface SaleColumns {
  readonly sales: SaleParts
  /** Number of the asset: see `LandAssets`. -1 where it is not on the map: a dissolved estate, a parcel outside of the world. */
  readonly asset: Int32Array
  /** The number of parcels that were sold. Where that is not known it is what the estate has now; 0 for a dissolved one. */
  readonly size: Int32Array
  /** The number nearest to the price for each parcel; NaN where the size is unknown. */
  readonly perParcel: Float64Array
  /** The price as a whole number of MANA; -1 where it has decimals, or more digits than a number holds. */
  readonly wholePrice: Float64Array
}

const knownOf = new WeakMap<SaleParts, { readonly assets: LandAssets; readonly columns: SaleColumns }>()

/** Cached until there is another sale, or a parcel joins or leaves an estate. */
export function saleColumnsOf(
  { sales, bounds, parcels, estates }: StateParts,
  assets: LandAssets,
): SaleColumns {
  const known = knownOf.get(sales)
  if (known?.assets === assets) return known.columns
  const places = { assets, parcels, estates, bounds }
  const estateNumbers = sales.estateIds.map((id) => numberOfEstate(places, id))
  const asset = Int32Array.from(sales.key, (_, sale) => {
    const estate = sales.estate[sale]!
    return estate >= 0
      ? estateNumbers[estate]!
      : numberOfParcel(places, { x: sales.x[sale]!, y: sales.y[sale]! })
  })
  const size = Int32Array.from(sales.size, (sold, sale) => sold || (assets.size[asset[sale]!] ?? 0))
  const perParcel = sales.roundedPrice.map((price, sale) => {
    if (size[sale] === 1) return price
    // Divided exactly, so that the numbers have the order of the exact prices
    return size[sale] === 0 ? Number.NaN : Number(manaText(perParcelWei({ sales, size }, sale)!))
  })
  const wholePrice = sales.roundedPrice.map((rounded, sale) =>
    Number.isSafeInteger(rounded) && !sales.price[sale]!.includes('.') ? rounded : -1,
  )
  const columns = { sales, asset, size, perParcel, wholePrice }
  knownOf.set(sales, { assets, columns })
  return columns
}

/** The exact price for each parcel in wei, rounded down; undefined where the size is unknown. */
export function perParcelWei(
  { sales, size }: Pick<SaleColumns, 'sales' | 'size'>,
  sale: number,
): bigint | undefined {
  const parcels = size[sale]!
  return parcels === 0 ? undefined : weiOf(sales.price[sale]!) / BigInt(parcels)
}

const EVERYTHING = readLandQuery({})

/** The part of a filter that is about the land as it is now. */
function landPartOf({ area, center, radius, districts, plaza, road }: SaleFilter): Partial<LandQuery> {
  return { area, center, radius, districts, plaza, road }
}

/** The numbers of the sales that a filter keeps, oldest first: see `SaleParts`. */
export function matchingSales(view: LandView, columns: SaleColumns, filter: SaleFilter): Uint32Array {
  const { sales, asset, size } = columns
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = filter
  const first = firstFrom(sales.timeMs, fromMs)
  const kept = Uint32Array.from(
    { length: Math.max(0, firstFrom(sales.timeMs, toMs) - first) },
    (_, i) => first + i,
  )
  let count = kept.length
  const keep = (keeps: (sale: number) => boolean) => {
    let left = 0
    for (let i = 0; i < count; i++) if (keeps(kept[i]!)) kept[left++] = kept[i]!
    count = left
  }
  if (filter.assetTypes?.length === 1) {
    const isEstate = filter.assetTypes[0] === 'estate'
    keep((sale) => sales.estate[sale]! >= 0 === isEstate)
  }
  if (filter.asset) keep(assetTest(sales, filter.asset))
  for (const [name, column] of [
    ['buyer', sales.buyer],
    ['seller', sales.seller],
  ] as const) {
    const address = filter[name]
    if (address === undefined) continue
    const place = positionsOf(sales.addresses).get(address) ?? -1
    keep((sale) => column[sale] === place)
  }
  if (filter.sources) {
    const wanted = SALE_SOURCES.map((source) => filter.sources!.includes(source))
    keep((sale) => wanted[sales.source[sale]!]!)
  }
  if (filter.size) {
    const { min = 0, max = Infinity } = filter.size
    keep((sale) => size[sale]! > 0 && size[sale]! >= min && size[sale]! <= max)
  }
  if (filter.price) keep(priceTest(sales, filter.price))
  const place = landPartOf(filter)
  if (Object.values(place).some((part) => part !== undefined)) {
    const meant = matchingAssets(view, { ...EVERYTHING, ...place, withParcelsOfEstates: true })
    keep((sale) => asset[sale]! >= 0 && meant.has(asset[sale]!))
  }
  return kept.subarray(0, count)
}

/**
 * The assets with an open offer in MANA that a filter keeps: by their kind, place, size and price, and the source of the offer: none is a
 * bid. The time and the parties of sales say nothing of offers.
 */
export function matchingOffers(view: LandView, filter: SaleFilter): Uint32Array {
  const { assetTypes, size, price, asset } = filter
  const sources = filter.sources?.filter((source) => source !== 'bid')
  const query = { ...EVERYTHING, ...landPartOf(filter), assetTypes, size, price, sources }
  const found = matchingAssets(view, query).keep(statusSets(view).priced).list()
  if (!asset) return found
  const meant = assetNumber(view, asset)
  return found.filter((one) => one === meant)
}

function assetTest(sales: SaleParts, { type, id }: AssetName) {
  if (type === 'estate') {
    const estate = positionsOf(sales.estateIds).get(id) ?? Number.NaN
    return (sale: number) => sales.estate[sale] === estate
  }
  const { x, y } = parseCoord(id)!
  return (sale: number) => sales.estate[sale]! < 0 && sales.x[sale] === x && sales.y[sale] === y
}

/** Numbers decide where they differ: the number nearest to a larger sum is not smaller. */
function priceTest({ price, roundedPrice }: SaleParts, { min, max }: Range<bigint>) {
  const [low, high] = [min, max].map((limit) => (limit === undefined ? undefined : Number(manaText(limit))))
  return (sale: number) => {
    const rounded = roundedPrice[sale]!
    if (low !== undefined && (rounded < low || (rounded === low && weiOf(price[sale]!) < min!))) return false
    return !(high !== undefined && (rounded > high || (rounded === high && weiOf(price[sale]!) > max!)))
  }
}

/** The first sale at a time or later. */
export function firstFrom(timeMs: Float64Array, fromMs: number): number {
  return firstBeyond(timeMs, 0, (soldAtMs) => soldAtMs >= fromMs)
}
