import {
  DISTANCE_CLASSES,
  distanceClass,
  priceClass,
  SIZE_CLASSES,
  sizeClass,
} from '../common/land-classes.ts'
import type { FacetName } from './land-query.ts'
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
    case 'asset_type':
      return inOrder(
        ['parcel', 'estate'],
        count(assets, (asset) => (asset < columns.estates ? 'estate' : 'parcel')),
      )
    case 'size':
      return inOrder(
        SIZE_CLASSES,
        count(assets, (asset) => sizeClass(columns.size[asset]!)),
      )
    case 'plaza':
    case 'road':
      return inOrder(
        DISTANCE_CLASSES,
        count(assets, (asset) => distanceClass(columns[name][asset]!)),
      )
    case 'price':
      return byPrice(count(assets, priceClassOf(offers.placeOf, offers.price, offers.prices)))
    case 'price_per_parcel':
      return byPrice(
        count(assets, priceClassOf(offers.placeOf, offers.pricePerParcel, offers.pricesPerParcel)),
      )
    case 'district':
      return districtCounts(view, assets)
  }
}

function count(assets: Uint32Array, keyOf: (asset: number) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const asset of assets) {
    const key = keyOf(asset)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

function inOrder(keys: readonly string[], counts: ReadonlyMap<string, number>): Count[] {
  return keys.flatMap((key) => (counts.has(key) ? { key, count: counts.get(key)! } : []))
}

function priceClassOf(placeOf: Int32Array, ranks: Uint32Array, prices: readonly string[]) {
  return (asset: number) => {
    const place = placeOf[asset]!
    return place < 0 ? NONE : priceClass(prices[ranks[place]!]!)
  }
}

/** From the lowest price; what has no offer comes last. */
function byPrice(counts: ReadonlyMap<string, number>): Count[] {
  const from = (key: string) => (key === NONE ? Number.POSITIVE_INFINITY : Number(key.split('-')[0]))
  const keys = [...counts.keys()].sort((a, b) => from(a) - from(b))
  return inOrder(keys, counts)
}

/** From the most frequent; an estate counts in each district in which it has a parcel. What is in none comes last. */
function districtCounts({ assets: columns, parcels, districtIds }: LandView, assets: Uint32Array): Count[] {
  const meant = new Uint8Array(columns.count)
  for (const asset of assets) meant[asset] = 1
  const counts = new Uint32Array(districtIds.length)
  const counted = new Set<number>()
  const hasDistrict = new Uint8Array(columns.count)
  for (let row = 0; row < parcels.inWorld; row++) {
    const district = parcels.district[row]!
    if (district < 0) continue
    const parcel = columns.estates + row
    if (meant[parcel] === 1) counts[district]! += 1
    hasDistrict[parcel] = 1
    const estate = parcels.estate[row]!
    if (estate < 0 || meant[estate] === 0) continue
    hasDistrict[estate] = 1
    const pair = estate * districtIds.length + district
    if (counted.has(pair)) continue
    counted.add(pair)
    counts[district]! += 1
  }
  const found = [...counts.keys()]
    .filter((district) => counts[district]! > 0)
    .sort((a, b) => counts[b]! - counts[a]! || (districtIds[a]! < districtIds[b]! ? -1 : 1))
    .map((district) => ({ key: districtIds[district]!, count: counts[district]! }))
  const without = assets.reduce((sum, asset) => sum + 1 - hasDistrict[asset]!, 0)
  return without > 0 ? [...found, { key: NONE, count: without }] : found
}
