import { LRUCache } from 'lru-cache'
import type { CheapestOffers } from '../../state/parts/cheapest-offers.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import type { LandAssets } from '../../state/parts/land-assets.ts'
import type { LastSales } from '../../state/parts/last-sales.ts'
import { NumberSet } from '../../state/parts/number-set.ts'
import type { UnlistedNow } from '../../state/parts/unlisted-offers.ts'
import { type LandView, offeredAssets } from './land-view.ts'

/**
 * Sets of assets that many queries join. They are made when they are first needed, and cached until the land has changed in what they
 * are made of: 12 kB each for 92,000 assets.
 */

type Column = 'size' | 'width' | 'height' | 'plaza' | 'road'

/** Ranges of one world; classes of distances and sizes are 17 of them. */
const MAX_RANGES = 128
const rangesOf = new WeakMap<LandAssets, LRUCache<string, NumberSet>>()

/** The assets whose value in a column is within a range. Both limits belong to it; -1 stands for what is not known. */
export function assetsInRange(assets: LandAssets, name: Column, min: number, max: number): NumberSet {
  const known = rangesOf.get(assets) ?? new LRUCache({ max: MAX_RANGES })
  rangesOf.set(assets, known)
  const key = `${name} ${min} ${max}`
  const set = known.get(key) ?? collectRange(assets[name], min, max)
  known.set(key, set)
  return set
}

function collectRange(column: Int32Array, min: number, max: number): NumberSet {
  const set = new NumberSet(column.length)
  for (let asset = 0; asset < column.length; asset++)
    if (column[asset]! >= min && column[asset]! <= max) set.add(asset)
  return set
}

interface StatusSets {
  /** What has an open offer in MANA. */
  readonly priced: NumberSet
  readonly open: NumberSet
  readonly for_rent: NumberSet
  /** What has an open offer, to buy or to rent it. */
  readonly offered: NumberSet
  readonly sold: NumberSet
}

const statusesOf = new WeakMap<
  CheapestOffers,
  { readonly unlisted: UnlistedNow; readonly lastSales: LastSales; readonly sets: StatusSets }
>()

/** What has an open offer, to buy or to rent it, and what was sold. */
export function statusSets(view: LandView): StatusSets {
  const { assets, offers, unlisted, lastSales } = view
  const known = statusesOf.get(offers)
  if (known?.unlisted === unlisted && known.lastSales === lastSales) return known.sets
  const sold = new NumberSet(assets.count)
  for (let asset = 0; asset < assets.count; asset++) if (lastSales.timeMs[asset]! >= 0) sold.add(asset)
  const open = NumberSet.of(offeredAssets(view).assets, assets.count)
  const for_rent = NumberSet.of(unlisted.rentals.keys(), assets.count)
  const priced = NumberSet.of(offers.assets, assets.count)
  const sets = { priced, open, for_rent, offered: open.copy().addAll(for_rent), sold }
  statusesOf.set(offers, { unlisted, lastSales, sets })
  return sets
}

/** Which assets have parcels in which districts, given by their indexes. */
export interface AssetDistricts {
  /** The assets with a parcel in a district. */
  readonly inSome: NumberSet
  /** All districts of an asset, each once. */
  of(asset: number): readonly number[]
}

const districtsOf = new WeakMap<
  LandAssets,
  { readonly district: Int16Array; readonly districts: AssetDistricts }
>()

export function assetDistricts({ assets, parcels }: LandView): AssetDistricts {
  const { district, estate, inWorld } = parcels
  const known = districtsOf.get(assets)
  if (known?.district === district) return known.districts
  const inSome = new NumberSet(assets.count)
  const ofEstate = Array.from({ length: assets.estates }, (_, row) => {
    const members = rowsOfEstate(estate, row).filter((member) => member < inWorld && district[member]! >= 0)
    if (members.length > 0) inSome.add(row)
    return [...new Set(Array.from(members, (member) => district[member]!))]
  })
  for (let row = 0; row < inWorld; row++) if (district[row]! >= 0) inSome.add(assets.estates + row)
  const districts = {
    inSome,
    of: (asset: number) => {
      if (asset < assets.estates) return ofEstate[asset]!
      const one = district[asset - assets.estates]!
      return one < 0 ? NONE : [one]
    },
  }
  districtsOf.set(assets, { district, districts })
  return districts
}

const NONE: readonly number[] = []
