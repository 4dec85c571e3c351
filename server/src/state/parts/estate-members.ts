import type { Coord } from '@landpass/client/grid'
import type { ParcelParts } from './parts.ts'

/** Rows of parcels by estate: those of estate i are `rows` from `starts[i]` to `starts[i + 1]`. */
interface Members {
  readonly starts: Uint32Array
  readonly rows: Uint32Array
}

/** Cached per column `estate`: states between which no parcel changed its estate share the column. */
const membersOfColumn = new WeakMap<Int32Array, Members>()

/**
 * The rows of an estate's parcels, by x, then from north to south; none for a dissolved one.
 *
 * @param estate for each parcel the row of its estate, or -1; must not be changed after this call
 */
export function rowsOfEstate(estate: Int32Array, estateRow: number): Uint32Array {
  const { starts, rows } = membersOfColumn.get(estate) ?? collect(estate)
  if (estateRow + 1 >= starts.length) return new Uint32Array(0)
  return rows.subarray(starts[estateRow]!, starts[estateRow + 1]!)
}

/** The coordinates of an estate's parcels, by x, then from north to south. */
export function parcelsOfEstate(
  { x, y, estate }: Pick<ParcelParts, 'x' | 'y' | 'estate'>,
  estateRow: number,
): Coord[] {
  return coordsOf({ x, y }, rowsOfEstate(estate, estateRow))
}

/** The parcels of some estates, for each estate in the order in which they were added to it. */
export function membersOf(
  { x, y, estate, estatePosition }: Pick<ParcelParts, 'x' | 'y' | 'estate' | 'estatePosition'>,
  estates: Iterable<number>,
): ReadonlyMap<number, readonly Coord[]> {
  const members = new Map<number, readonly Coord[]>()
  for (const one of estates) {
    const rows = rowsOfEstate(estate, one)
      .slice()
      .sort((a, b) => estatePosition[a]! - estatePosition[b]! || a - b)
    members.set(one, coordsOf({ x, y }, rows))
  }
  return members
}

function coordsOf({ x, y }: Pick<ParcelParts, 'x' | 'y'>, rows: Uint32Array): Coord[] {
  return Array.from(rows, (row) => ({ x: x[row]!, y: y[row]! }))
}

function collect(estate: Int32Array): Members {
  const last = estate.reduce((most, one) => Math.max(most, one), -1)
  const starts = new Uint32Array(last + 2)
  for (const one of estate) if (one >= 0) starts[one + 1]! += 1
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!
  const next = starts.slice()
  const rows = new Uint32Array(starts.at(-1)!)
  for (let row = 0; row < estate.length; row++) {
    const one = estate[row]!
    if (one < 0) continue
    rows[next[one]!] = row
    next[one]! += 1
  }
  const members = { starts, rows }
  membersOfColumn.set(estate, members)
  return members
}
