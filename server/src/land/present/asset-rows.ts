import { parseCoord } from '../../world/coord.ts'
import type { Area } from '../../world/world.ts'
import { cellOf } from './build-parcels.ts'
import type { AssetRowOf } from './listed-publication.ts'
import { placesOf } from './places.ts'

/** Finds the rows of assets by their ids. */
export function assetRows(bounds: Area, rowAt: Int32Array, estateIds: readonly string[]): AssetRowOf {
  const rowOfEstate = placesOf(estateIds)
  return (type, id) => {
    if (type === 'estate') return rowOfEstate.get(id) ?? -1
    const coord = parseCoord(id)
    return coord ? (rowAt[cellOf(bounds, coord)] ?? -1) : -1
  }
}
