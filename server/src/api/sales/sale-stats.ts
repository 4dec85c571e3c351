import { DAY_MS } from '../../clock.ts'
import type { AppError } from '../../errors.ts'
import { invalidParameter } from '../../http/validation.ts'
import { manaText, weiOf } from '../../land/events/amounts.ts'
import { type Class, classNumber, DISTANCE_CLASSES, SIZE_CLASSES } from '../common/land-classes.ts'
import { assetDistricts } from '../land/asset-sets.ts'
import type { LandView } from '../land/land-view.ts'
import { perParcelWei, type SaleColumns } from './sale-matches.ts'
import type { Grouping, SaleFilter } from './sales-query.ts'

/** Sales and open offers in groups (docs/sales.md has the definitions). */

export interface StatGroup {
  readonly key: string
  readonly sales: SaleStats
  /** Null in groups of time: an offer belongs to none. */
  readonly open: OfferStats | null
}

interface SaleStats {
  readonly count: number
  readonly parcels: number
  readonly volume: string
  readonly per_parcel: Record<'min' | 'p25' | 'median' | 'p75' | 'max', string | null>
}

interface OfferStats {
  readonly count: number
  readonly floor: string | null
  readonly floor_per_parcel: string | null
  readonly median_per_parcel: string | null
}

/** What is counted: numbers of sales, oldest first, and of assets with an open offer. */
interface Counted {
  readonly sales: Uint32Array
  readonly offers: Uint32Array
}

const NONE = 'none'
const NOTHING = new Uint32Array(0)
/** Ten years of days and more: an answer has no more groups. */
const MAX_GROUPS = 5_000

/** @throws {AppError} `invalid_parameter` for a range with more than {@link MAX_GROUPS} days, weeks or months */
export function statGroups(
  view: LandView,
  columns: SaleColumns,
  counted: Counted,
  by: Grouping,
  filter: Pick<SaleFilter, 'fromMs' | 'toMs' | 'districts'>,
): StatGroup[] {
  if (by === 'day' || by === 'week' || by === 'month') return groupsOfTime(columns, counted.sales, by, filter)
  const keysOfAsset = assetKeys(view, by, filter.districts)
  const ofSales = grouped(counted.sales, (sale) => {
    if (by === 'size') return columns.size[sale] === 0 ? NO_CLASS : ofSize(columns.size[sale]!)
    if (by === 'asset_type') return columns.sales.estate[sale]! < 0 ? PARCEL : ESTATE
    const asset = columns.asset[sale]!
    return by === 'total' || asset >= 0 ? keysOfAsset(asset) : NO_CLASS
  })
  const ofOffers = grouped(counted.offers, keysOfAsset)
  if (by === 'total' && ofSales.size === 0) ofSales.set('total', NOTHING)
  return inOrder(by, new Set([...ofSales.keys(), ...ofOffers.keys()])).map((key) => ({
    key,
    sales: saleStats(columns, ofSales.get(key) ?? NOTHING),
    open: offerStats(view, ofOffers.get(key) ?? NOTHING),
  }))
}

// The keys of a sale, so that no list is made for each of the many sales.
const [NO_CLASS, TOTAL, PARCEL, ESTATE] = [[NONE], ['total'], ['parcel'], ['estate']] as const
const ofSize = keysByClass(SIZE_CLASSES)
const ofDistance = keysByClass(DISTANCE_CLASSES)

function keysByClass(classes: readonly Class[]): (number: number) => readonly string[] {
  const keys = classes.map(([key]) => [key])
  return (number) => keys[classNumber(classes, number)]!
}

/** @param districts the only ones that are meant, where some are */
function assetKeys(
  view: LandView,
  by: Grouping,
  districts: readonly string[] | undefined,
): (asset: number) => readonly string[] {
  const { assets, districtIds } = view
  switch (by) {
    case 'district': {
      const { of } = assetDistricts(view)
      return (asset) => {
        const ids = of(asset).map((district) => districtIds[district]!)
        if (districts) return ids.filter((id) => districts.includes(id))
        return ids.length === 0 ? NO_CLASS : ids
      }
    }
    case 'plaza':
    case 'road':
      return (asset) => ofDistance(assets[by][asset]!)
    case 'size':
      return (asset) => ofSize(assets.size[asset]!)
    case 'asset_type':
      return (asset) => (asset < assets.estates ? ESTATE : PARCEL)
    default:
      return () => TOTAL
  }
}

const ORDERS: Partial<Record<Grouping, readonly string[]>> = {
  plaza: DISTANCE_CLASSES.map(([key]) => key),
  road: DISTANCE_CLASSES.map(([key]) => key),
  size: [...SIZE_CLASSES.map(([key]) => key), NONE],
  asset_type: ['parcel', 'estate'],
}

/** Classes in ascending order, districts by their ids; what is in none comes last. */
function inOrder(by: Grouping, keys: ReadonlySet<string>): readonly string[] {
  const order = ORDERS[by]
  if (order) return order.filter((key) => keys.has(key))
  return [...keys].sort((a, b) => Number(a === NONE) - Number(b === NONE) || (a < b ? -1 : 1))
}

function grouped(
  numbers: Uint32Array,
  keysOf: (number: number) => readonly string[],
): Map<string, Uint32Array> {
  const groups = new Map<string, number[]>()
  for (const number of numbers) {
    for (const key of keysOf(number)) {
      const group = groups.get(key)
      if (group) group.push(number)
      else groups.set(key, [number])
    }
  }
  return new Map([...groups].map(([key, group]) => [key, Uint32Array.from(group)]))
}

type TimeUnit = 'day' | 'week' | 'month'

/** Sales are in order of time, so each group is a run of them. */
function groupsOfTime(
  columns: SaleColumns,
  sales: Uint32Array,
  unit: TimeUnit,
  { fromMs, toMs }: Pick<SaleFilter, 'fromMs' | 'toMs'>,
): StatGroup[] {
  const { timeMs } = columns.sales
  const startMs = fromMs ?? (sales.length > 0 ? timeMs[sales[0]!] : undefined)
  const endMs = toMs === undefined ? (sales.length > 0 ? timeMs[sales.at(-1)!] : undefined) : toMs - 1
  if (startMs === undefined || endMs === undefined || endMs < startMs) return []
  const [first, last] = [numberOf(unit, startMs), numberOf(unit, endMs)]
  if (last - first >= MAX_GROUPS) throw tooManyGroups(unit, { fromMs, toMs })
  const groups: StatGroup[] = []
  let from = 0
  for (let number = first; number <= last; number++) {
    let to = from
    while (to < sales.length && numberOf(unit, timeMs[sales[to]!]!) === number) to++
    groups.push({
      key: keyOfTime(unit, number),
      sales: saleStats(columns, sales.subarray(from, to)),
      open: null,
    })
    from = to
  }
  return groups
}

/** Names the parameter that makes them so many. */
function tooManyGroups(unit: TimeUnit, { fromMs, toMs }: Pick<SaleFilter, 'fromMs' | 'toMs'>): AppError {
  const most = `at most ${MAX_GROUPS} ${unit}s`
  if (fromMs !== undefined)
    return invalidParameter('from', new Date(fromMs).toISOString(), `later: by=${unit} answers ${most}`)
  if (toMs !== undefined)
    return invalidParameter('to', new Date(toMs).toISOString(), `earlier: by=${unit} answers ${most}`)
  return invalidParameter('by', unit, `of a longer time, or given with from and to: ${most}`)
}

/** Days, weeks that begin on Monday, or months, counted in UTC. */
function numberOf(unit: TimeUnit, timeMs: number): number {
  const day = Math.floor(timeMs / DAY_MS)
  if (unit === 'day') return day
  // 1970-01-01 was a Thursday.
  if (unit === 'week') return Math.floor((day + 3) / 7)
  const date = new Date(timeMs)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** @example keyOfTime('week', 2930) // '2026-W09' */
function keyOfTime(unit: TimeUnit, number: number): string {
  if (unit === 'day') return isoDay(number * DAY_MS)
  if (unit === 'month')
    return `${yearText(Math.floor(number / 12))}-${String((number % 12) + 1).padStart(2, '0')}`
  // A week belongs to the year of its Thursday.
  const thursday = number * 7
  const year = new Date(thursday * DAY_MS).getUTCFullYear()
  const week = Math.floor((thursday - Date.UTC(year, 0) / DAY_MS) / 7) + 1
  return `${yearText(year)}-W${String(week).padStart(2, '0')}`
}

function isoDay(timeMs: number): string {
  const date = new Date(timeMs)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${yearText(date.getUTCFullYear())}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`
}

function yearText(year: number): string {
  return String(year).padStart(4, '0')
}

const NO_SALES: SaleStats = {
  ...{ count: 0, parcels: 0, volume: '0' },
  per_parcel: { min: null, p25: null, median: null, p75: null, max: null },
}

function saleStats(columns: SaleColumns, sales: Uint32Array): SaleStats {
  if (sales.length === 0) return NO_SALES
  let parcels = 0
  for (const sale of sales) parcels += columns.size[sale]!
  return {
    count: sales.length,
    parcels,
    volume: volumeOf(columns, sales),
    per_parcel: quartiles(columns, sales),
  }
}

/** Whole sums are added as numbers, while these are exact: most prices have no decimals. */
function volumeOf({ sales: { price }, wholePrice }: SaleColumns, sales: Uint32Array): string {
  let whole = 0
  let rest = 0n
  for (let i = 0; i < sales.length; i++) {
    const sale = sales[i]!
    const sum = whole + wholePrice[sale]!
    if (wholePrice[sale]! >= 0 && sum <= Number.MAX_SAFE_INTEGER) whole = sum
    else rest += weiOf(price[sale]!)
  }
  return rest === 0n ? String(whole) : manaText(rest + weiOf(String(whole)))
}

/** Below it a number holds the quarters between two whole ones, too. */
const MAX_QUARTERED = 2 ** 50

function quartiles(columns: SaleColumns, sales: Uint32Array): SaleStats['per_parcel'] {
  const { size, wholePrice } = columns
  const { byPrice, ranks } = perParcelOrder(columns)
  const sorted = sales.filter((sale) => size[sale]! > 0)
  for (let i = 0; i < sorted.length; i++) sorted[i] = ranks[sorted[i]!]!
  if (sorted.length > 1) sorted.sort()
  const saleAt = (place: number) => byPrice[sorted[place]!]!
  const wholeAt = (place: number) => {
    const sale = saleAt(place)
    return size[sale] === 1 && wholePrice[sale]! < MAX_QUARTERED ? wholePrice[sale]! : -1
  }
  const quantile = (quarters: number) => {
    if (sorted.length === 0) return null
    const quarterPlaces = (sorted.length - 1) * quarters
    const [place, rest] = [quarterPlaces >> 2, quarterPlaces & 3]
    const low = wholeAt(place)
    const high = rest === 0 ? low : wholeAt(place + 1)
    if (low >= 0 && high >= 0) return String(low + ((high - low) * rest) / 4)
    return quantileText(sorted.length, quarters, (at) => perParcelWei(columns, saleAt(at))!)
  }
  return { min: quantile(0), p25: quantile(1), median: quantile(2), p75: quantile(3), max: quantile(4) }
}

interface PriceOrder {
  /** The sales of known size by their price for each parcel. */
  readonly byPrice: Uint32Array
  /** Per sale its index there. */
  readonly ranks: Uint32Array
}

const ordersOf = new WeakMap<SaleColumns, PriceOrder>()

/** By exact prices, which are compared only where the numbers nearest to them are equal. Cached as long as the columns are. */
function perParcelOrder(columns: SaleColumns): PriceOrder {
  const known = ordersOf.get(columns)
  if (known) return known
  const { sales, size, perParcel } = columns
  const compare = (a: number, b: number) => {
    if (size[a] === size[b] && sales.price[a] === sales.price[b]) return 0
    const [one, other] = [perParcelWei(columns, a)!, perParcelWei(columns, b)!]
    return one < other ? -1 : one > other ? 1 : 0
  }
  const ofKnownSize = Uint32Array.from(size.keys()).filter((sale) => size[sale]! > 0)
  // Without a function of ours, which takes several times as long: each sale goes to the next place of its number.
  const sorted = Float64Array.from(ofKnownSize, (sale) => perParcel[sale]!).sort()
  const nextPlace = new Map<number, number>()
  for (let i = sorted.length - 1; i >= 0; i--) nextPlace.set(sorted[i]!, i)
  const byPrice = new Uint32Array(ofKnownSize.length)
  for (const sale of ofKnownSize) {
    const place = nextPlace.get(perParcel[sale]!)!
    byPrice[place] = sale
    nextPlace.set(perParcel[sale]!, place + 1)
  }
  for (let from = 0; from < sorted.length; ) {
    const to = nextPlace.get(sorted[from]!)!
    if (to - from > 1) byPrice.subarray(from, to).sort(compare)
    from = to
  }
  const ranks = new Uint32Array(size.length)
  for (const [rank, sale] of byPrice.entries()) ranks[sale] = rank
  ordersOf.set(columns, { byPrice, ranks })
  return { byPrice, ranks }
}

/**
 * The quantile of values in ascending order, linear between neighbours at `(count - 1) · quarters / 4`: exact, with up to 20 decimals.
 *
 * @param valueAt in wei
 * @returns MANA; null where there are no values
 * @example
 * quantileText(4, 1, (place) => BigInt(place + 1) * 10n ** 18n) // '1.75'
 */
function quantileText(count: number, quarters: number, valueAt: (place: number) => bigint): string | null {
  if (count === 0) return null
  const quarterPlaces = (count - 1) * quarters
  const place = Math.floor(quarterPlaces / 4)
  const rest = BigInt(quarterPlaces % 4)
  const low = valueAt(place)
  if (rest === 0n) return manaText(low)
  const hundredths = 100n * low + 25n * rest * (valueAt(place + 1) - low)
  const wei = manaText(hundredths / 100n)
  const more = hundredths % 100n
  if (more === 0n) return wei
  const [whole, decimals = ''] = wei.split('.')
  return `${whole}.${decimals.padEnd(18, '0')}${String(more).padStart(2, '0').replace(/0$/, '')}`
}

function offerStats({ offers }: LandView, assets: Uint32Array): OfferStats {
  // Ranks have the order of the exact prices.
  const prices = assets.map((asset) => offers.price[offers.placeOf[asset]!]!).sort()
  const perParcel = assets.map((asset) => offers.pricePerParcel[offers.placeOf[asset]!]!).sort()
  const perParcelAt = (place: number) => weiOf(offers.pricesPerParcel[perParcel[place]!]!)
  return {
    count: assets.length,
    floor: offers.prices[prices[0]!] ?? null,
    floor_per_parcel: quantileText(assets.length, 0, perParcelAt),
    median_per_parcel: quantileText(assets.length, 2, perParcelAt),
  }
}
