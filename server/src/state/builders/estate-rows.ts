import { positionsOf } from '../parts/positions.ts'
import { compareEstateIds } from './build-estates.ts'

/** The rows of estates after new ones were added. Rows are sorted by id, so a new estate moves those after it. */
export interface EstateRows {
  readonly ids: readonly string[]
  /** Row of an estate, or -1. */
  rowOf(id: string): number
  /** The new row of each old row. */
  readonly newRowOf: Int32Array
  /** The old row of each new row; -1 for a new estate. */
  readonly sourceOf: Int32Array
  /** Whether any old estate has another row now. */
  readonly areMoved: boolean
}

/** Adds the ids of `wanted` that are not among the old ones. */
export function growEstates(oldIds: readonly string[], wanted: readonly string[]): EstateRows {
  const known = positionsOf(oldIds)
  const newIds = wanted.filter((id) => !known.has(id))
  const ids = newIds.length === 0 ? oldIds : [...oldIds, ...newIds].sort(compareEstateIds)
  const rows = positionsOf(ids)
  const newRowOf = Int32Array.from(oldIds, (id) => rows.get(id)!)
  return {
    ids,
    rowOf: (id) => rows.get(id) ?? -1,
    newRowOf,
    sourceOf: Int32Array.from(ids, (id) => known.get(id) ?? -1),
    areMoved: newRowOf.some((row, oldRow) => row !== oldRow),
  }
}
