import {
  DISTANCE_CLASSES,
  distanceClass,
  priceClass,
  priceClassKey,
  SIZE_CLASSES,
  sizeClass,
} from '../common/land-classes.ts'
import type { FacetName } from './land-query.ts'
import { districtsOf } from './land-rows.ts'
import type { LandView } from './land-view.ts'

interface Count {
  readonly key: string
  readonly count: number
}

/** How many of some assets there are of each class. Classes without an asset are left out. */
export function landFacets(
  view: LandView,
  assets: Uint32Array,
  names: readonly FacetName[],
): Partial<Record<FacetName, readonly Count[]>> {
  return Object.fromEntries(names.map((name) => [name, countsOf(view, assets, name)]))
}

const NONE = 'none'

function countsOf(view: LandView, assets: Uint32Array, name: FacetName): Count[] {
  const { assets: columns, offers } = view
  switch (name) {
    case 'asset_type': {
      const estates = assets.findIndex((asset) => asset >= columns.estates)
      const count = estates < 0 ? assets.length : estates
      return without0([
        { key: 'parcel', count: assets.length - count },
        { key: 'estate', count },
      ])
    }
    case 'size':
      return inOrder(SIZE_CLASSES, byClass(tally(assets, columns.size), sizeClass))
    case 'plaza':
    case 'road':
      return inOrder(DISTANCE_CLASSES, byClass(tally(assets, columns[name]), distanceClass))
    case 'price':
      return priceCounts(assets, offers.placeOf, offers.price, offers.prices)
    case 'price_per_parcel':
      return priceCounts(assets, offers.placeOf, offers.pricePerParcel, offers.pricesPerParcel)
    case 'district':
      return districtCounts(view, assets)
  }
}

function without0(counts: readonly Count[]): Count[] {
  return counts.filter(({ count }) => count > 0)
}

/** How often each value occurs. Most assets have one of a few values: runs of equal ones are counted at once. */
function tally(assets: Uint32Array, column: Int32Array): Map<number, number> {
  const counts = new Map<number, number>()
  let [value, run] = [-1, 0]
  for (let i = 0; i < assets.length; i++) {
    const next = column[assets[i]!]!
    if (next !== value) {
      counts.set(value, (counts.get(value) ?? 0) + run)
      value = next
      run = 0
    }
    run += 1
  }
  return counts.set(value, (counts.get(value) ?? 0) + run)
}

function byClass(
  counts: ReadonlyMap<number, number>,
  classOf: (value: number) => string,
): Map<string, number> {
  const classes = new Map<string, number>()
  for (const [value, count] of counts) {
    const key = classOf(value)
    classes.set(key, (classes.get(key) ?? 0) + count)
  }
  return classes
}

function inOrder(keys: readonly string[], counts: ReadonlyMap<string, number>): Count[] {
  return without0(keys.map((key) => ({ key, count: counts.get(key) ?? 0 })))
}

/** From the lowest price; what has no offer comes last. */
function priceCounts(
  assets: Uint32Array,
  placeOf: Int32Array,
  ranks: Uint32Array,
  prices: readonly string[],
): Count[] {
  const counts: number[] = []
  let without = 0
  for (let i = 0; i < assets.length; i++) {
    const place = placeOf[assets[i]!]!
    if (place < 0) {
      without += 1
      continue
    }
    const number = priceClass(prices[ranks[place]!]!)
    counts[number] = (counts[number] ?? 0) + 1
  }
  const found = Array.from(counts, (count = 0, number) => ({ key: priceClassKey(number), count }))
  return without0([...found, { key: NONE, count: without }])
}

/** From the most frequent; an estate counts in each district in which it has a parcel. What is in none comes last. */
function districtCounts(view: LandView, assets: Uint32Array): Count[] {
  const { assets: columns, parcels, districtIds } = view
  const counts = new Uint32Array(districtIds.length)
  let without = 0
  for (let i = 0; i < assets.length; i++) {
    const row = assets[i]! - columns.estates
    if (row < 0) {
      const districts = districtsOf(view, assets[i]!)
      for (const district of districts) counts[district]! += 1
      if (districts.size === 0) without += 1
    } else if (parcels.district[row]! >= 0) counts[parcels.district[row]!]! += 1
    else without += 1
  }
  const found = Array.from(counts, (count, district) => ({ key: districtIds[district]!, count })).sort(
    (a, b) => b.count - a.count || (a.key < b.key ? -1 : 1),
  )
  return without0([...found, { key: NONE, count: without }])
}
