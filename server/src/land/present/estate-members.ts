import type { Coord } from '../../world/coord.ts'
import type { ParcelParts } from './parts.ts'

type Members = Pick<ParcelParts, 'x' | 'y' | 'estate' | 'estatePosition'>

/** The parcels of some estates, each estate's in the order in which they were added. */
export function membersOf(
  { x, y, estate, estatePosition }: Members,
  estates: Iterable<number>,
): ReadonlyMap<number, readonly Coord[]> {
  const rowsOf = new Map<number, number[]>()
  for (const one of estates) rowsOf.set(one, [])
  for (let row = 0; row < estate.length; row++) if (estate[row]! >= 0) rowsOf.get(estate[row]!)?.push(row)
  const members = new Map<number, readonly Coord[]>()
  for (const [one, rows] of rowsOf) {
    rows.sort((a, b) => estatePosition[a]! - estatePosition[b]! || a - b)
    members.set(
      one,
      rows.map((row) => ({ x: x[row]!, y: y[row]! })),
    )
  }
  return members
}
