import { type Area, cellOf, parseCoord } from '@landpass/client/grid'
import { positionsOf } from '../parts/positions.ts'
import type { AssetRowOf } from './publication-facts.ts'

/** Finds the rows of assets by their ids. */
export function assetRows(bounds: Area, rowAt: Int32Array, estateIds: readonly string[]): AssetRowOf {
  const rowOfEstate = positionsOf(estateIds)
  return (type, id) => {
    if (type === 'estate') return rowOfEstate.get(id) ?? -1
    const coord = parseCoord(id)
    return coord ? (rowAt[cellOf(bounds, coord)] ?? -1) : -1
  }
}
