import { NumberSet } from '../../state/parts/number-set.ts'
import {
  type Class,
  DISTANCE_CLASSES,
  priceClass,
  priceClassKey,
  SIZE_CLASSES,
} from '../common/land-classes.ts'
import { assetDistricts, assetsInRange } from './asset-sets.ts'
import type { FacetName } from './land-query.ts'
import type { LandView } from './land-view.ts'

interface Count {
  readonly key: string
  readonly count: number
}

/** How many of some assets there are of each class. Classes without an asset are left out. */
export function landFacets(
  view: LandView,
  assets: NumberSet,
  names: readonly FacetName[],
): Partial<Record<FacetName, readonly Count[]>> {
  return Object.fromEntries(
    names.map((name) => [name, countsOf(view, assets, name).filter(({ count }) => count > 0)]),
  )
}

const NONE = 'none'

function countsOf(view: LandView, assets: NumberSet, name: FacetName): Count[] {
  const { assets: columns, offers } = view
  const byClass = (column: 'size' | 'plaza' | 'road', classes: readonly Class[]) =>
    classes.map(([key, min, max]) => ({
      key,
      count: assets.count(assetsInRange(columns, column, min, max)),
    }))
  switch (name) {
    case 'asset_type': {
      const parcels = new NumberSet(columns.count)
      parcels.addRange(columns.estates, columns.count)
      const count = assets.count(parcels)
      return [
        { key: 'parcel', count },
        { key: 'estate', count: assets.count() - count },
      ]
    }
    case 'size':
      return byClass(name, SIZE_CLASSES)
    case 'plaza':
    case 'road':
      return byClass(name, DISTANCE_CLASSES)
    case 'price':
      return priceCounts(view, assets, offers.price, offers.prices)
    case 'price_per_parcel':
      return priceCounts(view, assets, offers.pricePerParcel, offers.pricesPerParcel)
    case 'district':
      return districtCounts(view, assets)
  }
}

/** From the lowest price; what has no offer comes last. */
function priceCounts(
  { offers }: LandView,
  assets: NumberSet,
  ranks: Uint32Array,
  prices: readonly string[],
): Count[] {
  const ofRank = new Uint32Array(prices.length)
  for (let place = 0; place < ranks.length; place++)
    if (assets.has(offers.assets[place]!)) ofRank[ranks[place]!]! += 1
  const counts: number[] = []
  let without = assets.count()
  for (let rank = 0; rank < ofRank.length; rank++) {
    if (ofRank[rank] === 0) continue
    without -= ofRank[rank]!
    const number = priceClass(prices[rank]!)
    counts[number] = (counts[number] ?? 0) + ofRank[rank]!
  }
  const found = Array.from(counts, (count = 0, number) => ({ key: priceClassKey(number), count }))
  return [...found, { key: NONE, count: without }]
}

/** From the most frequent; an estate counts in each district in which it has a parcel. What is in none comes last. */
function districtCounts(view: LandView, assets: NumberSet): Count[] {
  const { inSome, of } = assetDistricts(view)
  const { estates } = view.assets
  const { district } = view.parcels
  const counts = new Uint32Array(view.districtIds.length)
  const listed = assets.list(inSome)
  for (let i = 0; i < listed.length; i++) {
    const asset = listed[i]!
    if (asset >= estates) counts[district[asset - estates]!]! += 1
    else for (const one of of(asset)) counts[one]! += 1
  }
  const found = Array.from(counts, (count, district) => ({ key: view.districtIds[district]!, count }))
  found.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
  return [...found, { key: NONE, count: assets.count() - assets.count(inSome) }]
}
