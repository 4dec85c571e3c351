import { type Area, parseCoord } from '@landpass/client/grid'
import { findParcelRow, type ParcelPlaces } from '../parts/parcel-rows.ts'
import { positionsOf } from '../parts/positions.ts'
import type { AssetRowOf } from './publication-facts.ts'

/** Finds the rows of assets by their ids. */
export function assetRows(bounds: Area, parcels: ParcelPlaces, estateIds: readonly string[]): AssetRowOf {
  const rowOfEstate = positionsOf(estateIds)
  return (type, id) => {
    if (type === 'estate') return rowOfEstate.get(id) ?? -1
    const coord = parseCoord(id)
    return coord ? findParcelRow(bounds, parcels, coord) : -1
  }
}
