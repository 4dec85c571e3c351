import { type Coord, parseCoord } from '@landpass/client/grid'
import type { AssetName } from '../../land/records/assets.ts'
import { findParcelRow } from '../../state/parts/parcel-rows.ts'
import { positionsOf } from '../../state/parts/positions.ts'
import type { LandView } from './land-view.ts'

/** Names of assets and their numbers in a view: see `LandAssets`. */

type Places = Pick<LandView, 'assets' | 'bounds' | 'parcels'> & {
  readonly estates: { readonly ids: readonly string[] }
}

/** The number of an asset that is on the map, or -1: see `LandAssets`. */
export function assetNumber(places: Places, { type, id }: AssetName): number {
  return type === 'estate' ? numberOfEstate(places, id) : numberOfParcel(places, parseCoord(id)!)
}

export function numberOfEstate({ assets, estates }: Places, id: string): number {
  const row = positionsOf(estates.ids).get(id) ?? -1
  return row >= 0 && assets.size[row]! > 0 ? row : -1
}

export function numberOfParcel({ assets, parcels, bounds }: Places, place: Coord): number {
  const row = findParcelRow(bounds, parcels, place)
  return row >= 0 && row < parcels.inWorld ? assets.estates + row : -1
}

/**
 * `x,y` of a parcel, or `estate:<id>`.
 *
 * @param asset its number
 */
export function nameOfNumber({ assets, estates }: LandView, asset: number): string {
  return asset < assets.estates ? `estate:${estates.ids[asset]!}` : `${assets.x[asset]!},${assets.y[asset]!}`
}
