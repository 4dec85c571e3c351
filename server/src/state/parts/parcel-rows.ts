import { type Area, type Coord, cellOf } from '@landpass/client/grid'
import type { ParcelParts } from './parts.ts'

/** What parcels are found by. */
export type ParcelPlaces = Pick<ParcelParts, 'rowAt' | 'x' | 'y' | 'inWorld'>

/** Row of the parcel at these coordinates, in the world or outside of it; -1 where there is none. */
export function findParcelRow(bounds: Area, { rowAt, x, y, inWorld }: ParcelPlaces, coord: Coord): number {
  const row = rowAt[cellOf(bounds, coord)] ?? -1
  if (row >= 0 || inWorld === x.length) return row
  let low = inWorld
  let high = x.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = x[middle]! - coord.x || coord.y - y[middle]!
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}
