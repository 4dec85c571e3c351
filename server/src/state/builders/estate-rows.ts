import { compareEstateIds } from '../parts/estate-ids.ts'
import { positionsOf } from '../parts/positions.ts'

/** The rows of estates after some came and went. Rows are sorted by id, so a new estate moves those after it. */
export interface EstateRows {
  readonly ids: readonly string[]
  /** Row of an estate, or -1. */
  rowOf(id: string): number
  /** The new row of each old row; -1 for a removed estate. */
  readonly newRowOf: Int32Array
  /** The old row of each new row; -1 for a new estate. */
  readonly sourceOf: Int32Array
  /** Whether any old estate has another row now. */
  readonly areMoved: boolean
}

/** The rows with the ids of `added` that are not among the old ones, and without those of `removed`. */
export function estateRowsAfter(
  oldIds: readonly string[],
  { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
): EstateRows {
  const known = positionsOf(oldIds)
  const newIds = added.filter((id) => !known.has(id))
  const gone = new Set(removed.filter((id) => known.has(id)))
  if (newIds.length === 0 && gone.size === 0) return unmovedRows(oldIds)
  const keptIds = gone.size === 0 ? oldIds : oldIds.filter((id) => !gone.has(id))
  const ids = newIds.length === 0 ? keptIds : [...keptIds, ...newIds].sort(compareEstateIds)
  const rows = positionsOf(ids)
  const newRowOf = Int32Array.from(oldIds, (id) => rows.get(id) ?? -1)
  return {
    ids,
    rowOf: (id) => rows.get(id) ?? -1,
    newRowOf,
    sourceOf: Int32Array.from(ids, (id) => known.get(id) ?? -1),
    areMoved: newRowOf.some((row, oldRow) => row !== oldRow),
  }
}

/** Cached per list of ids: most changes have the list of the state before. */
const knownRows = new WeakMap<readonly string[], EstateRows>()

function unmovedRows(ids: readonly string[]): EstateRows {
  const known = knownRows.get(ids)
  if (known) return known
  const places = positionsOf(ids)
  const same = Int32Array.from(ids, (_, row) => row)
  const rows = {
    ids,
    rowOf: (id: string) => places.get(id) ?? -1,
    newRowOf: same,
    sourceOf: same,
    areMoved: false,
  }
  knownRows.set(ids, rows)
  return rows
}
