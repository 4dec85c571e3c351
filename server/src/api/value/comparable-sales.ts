import { DAY_MS } from '../../clock.ts'
import type { LandAssets } from '../../state/parts/land-assets.ts'
import { classNumber, DISTANCE_CLASSES } from '../common/land-classes.ts'
import { firstFrom, perParcelWei, type SaleColumns } from '../sales/sale-matches.ts'

/**
 * What an asset may be worth, by what was paid for others (docs/sales.md). Each sale weighs the product of what it has in common with
 * the asset; the heaviest count. The range is of prices that were paid for a parcel, so no number is made up.
 */

/** A sale of this age weighs half as much as one of today. */
const HALF_LIFE_DAYS = 180
/** So does one at this distance, in parcels. */
const HALF_DISTANCE = 15
/** So do one whose road, or plaza, is at a distance of another class. */
const OTHER_CLASS_WEIGHT = 0.5
const COMPARED_SALES = 30
const MIN_WEIGHT = 0.01
/** Fewer comparable sales give no range. */
const MIN_SALES = 5
/** Only the newest sales of a large history are considered. */
const CONSIDERED_SALES = 100_000
/** The shares of the weight that lie below the three numbers of the range. */
const RANGE_SHARES = { low: 0.1, middle: 0.5, high: 0.9 } as const

/** What is compared. */
export interface ValuedAsset {
  /** Its number: see `LandAssets`. */
  readonly asset: number
  readonly size: number
}

export interface ComparableSale {
  /** Its number: see `SaleParts`. */
  readonly sale: number
  readonly weight: number
  readonly why: string
}

/**
 * The sales that are most like a sale of the asset, the heaviest first.
 *
 * @param nowMs only sales before it count
 */
export function comparableSales(
  assets: LandAssets,
  columns: SaleColumns,
  { asset, size }: ValuedAsset,
  nowMs: number,
): readonly ComparableSale[] {
  const { timeMs } = columns.sales
  const end = firstFrom(timeMs, nowMs)
  const found: { sale: number; weight: number }[] = []
  let least = MIN_WEIGHT
  // From the newest on: the age alone says when no older sale can be among the heaviest.
  for (let sale = end - 1; sale >= Math.max(0, end - CONSIDERED_SALES); sale--) {
    const ageWeight = halved(ageInDays(timeMs[sale]!, nowMs), HALF_LIFE_DAYS)
    if (ageWeight < least) break
    const sold = columns.asset[sale]!
    if (sold < 0) continue
    const weight =
      ageWeight *
      halved(distanceOf(assets, asset, sold), HALF_DISTANCE) *
      Math.sqrt(Math.min(size, columns.size[sale]!) / Math.max(size, columns.size[sale]!)) *
      classWeight(assets.plaza, asset, sold) *
      classWeight(assets.road, asset, sold)
    if (weight < least) continue
    found.push({ sale, weight })
    if (found.length < 2 * COMPARED_SALES) continue
    found.sort(heaviestFirst).length = COMPARED_SALES
    least = found[COMPARED_SALES - 1]!.weight
  }
  return found
    .sort(heaviestFirst)
    .slice(0, COMPARED_SALES)
    .map(({ sale, weight }) => ({ sale, weight, why: reasons(assets, columns, { asset, sale, nowMs }) }))
}

function heaviestFirst(a: ComparedSale, b: ComparedSale): number {
  return b.weight - a.weight || b.sale - a.sale
}
type ComparedSale = Omit<ComparableSale, 'why'>

/** The start of a day, UTC. */
export function startOfDay(timeMs: number): number {
  return timeMs - (timeMs % DAY_MS)
}

/** Until the start of the day, so that a value stays the same for that day. */
function ageInDays(soldAtMs: number, nowMs: number): number {
  return Math.max(0, startOfDay(nowMs) - soldAtMs) / DAY_MS
}

function halved(value: number, half: number): number {
  return 2 ** (-value / half)
}

/** Between the parcels at `x` and `y` of two assets. */
export function distanceOf({ x, y }: Pick<LandAssets, 'x' | 'y'>, a: number, b: number): number {
  return Math.hypot(x[a]! - x[b]!, y[a]! - y[b]!)
}

function classWeight(distance: Int32Array, a: number, b: number): number {
  const [one, other] = [distance[a]!, distance[b]!]
  return classNumber(DISTANCE_CLASSES, one) === classNumber(DISTANCE_CLASSES, other) ? 1 : OTHER_CLASS_WEIGHT
}

function reasons(
  assets: LandAssets,
  { sales, asset: assetOf, size }: SaleColumns,
  { asset, sale, nowMs }: { readonly asset: number; readonly sale: number; readonly nowMs: number },
): string {
  const sold = assetOf[sale]!
  const days = Math.floor(ageInDays(sales.timeMs[sale]!, nowMs))
  const parts = [
    sold === asset ? 'its own sale' : `${distanceOf(assets, asset, sold).toFixed(1)} parcels away`,
  ]
  parts.push(`${days} ${days === 1 ? 'day' : 'days'} ago`, `size ${size[sale]}`)
  for (const name of ['plaza', 'road'] as const)
    if (classWeight(assets[name], asset, sold) < 1) parts.push(`at another distance from a ${name}`)
  return parts.join(', ')
}

export interface PriceRange {
  /** Prices for each parcel, in wei. */
  readonly low: bigint
  readonly middle: bigint
  readonly high: bigint
}

/**
 * The prices for a parcel below which 10 %, 50 % and 90 % of the weight lie; undefined with fewer than {@link MIN_SALES} sales.
 */
export function priceRange(
  columns: SaleColumns,
  comparable: readonly ComparableSale[],
): PriceRange | undefined {
  if (comparable.length < MIN_SALES) return undefined
  const prices = comparable
    .map(({ sale, weight }) => ({ wei: perParcelWei(columns, sale)!, weight }))
    .sort((a, b) => (a.wei < b.wei ? -1 : a.wei > b.wei ? 1 : 0))
  const whole = prices.reduce((sum, { weight }) => sum + weight, 0)
  const below = (share: number) => {
    let sum = 0
    for (const { wei, weight } of prices) {
      sum += weight
      if (sum >= share * whole) return wei
    }
    return prices.at(-1)!.wei
  }
  return { low: below(RANGE_SHARES.low), middle: below(RANGE_SHARES.middle), high: below(RANGE_SHARES.high) }
}

/**
 * How far a price is from a range, as a share of its nearer end: 0 within it, 0.12 where it is 12 % above it, negative below it.
 * Rounded to four decimals. Null above a range that ends at 0: no share of 0 says how far.
 */
export function aboveRange(price: bigint, { low, high }: Pick<PriceRange, 'low' | 'high'>): number | null {
  const end = price > high ? high : price < low ? low : price
  if (end === price) return 0
  return end === 0n ? null : Number(((price - end) * 10_000n) / end) / 10_000
}

export const METHOD = `The ${COMPARED_SALES} heaviest sales before now. The weight of a sale is the product of: a half for each ${HALF_LIFE_DAYS} days of age; \
a half for each ${HALF_DISTANCE} parcels of distance; the square root of the smaller size divided by the larger one; a half each where \
the nearest plaza, or road, is in another class of distance. Sales below ${MIN_WEIGHT} are left out. Low, middle and high are the prices \
for a parcel below which 10 %, 50 % and 90 % of the weight lie, times the size. Open offers are shown and weigh nothing.`
