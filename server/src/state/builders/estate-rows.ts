import { placesOf } from '../parts/places.ts'
import { compareEstateIds } from './build-estates.ts'

/** The rows of estates, by number, after some were made: a new one with a low number moves those after it. */
export interface EstateRows {
  readonly ids: readonly string[]
  /** Row of an estate, or -1. */
  rowOf(id: string): number
  /** Per old row the new one. */
  readonly newRowOf: Int32Array
  /** Per new row the old one; -1 for a new estate. */
  readonly sourceOf: Int32Array
  /** Whether any old estate has another row now. */
  readonly areMoved: boolean
}

export function growEstates(oldIds: readonly string[], wanted: readonly string[]): EstateRows {
  const known = placesOf(oldIds)
  const fresh = wanted.filter((id) => !known.has(id))
  const ids = fresh.length === 0 ? oldIds : [...oldIds, ...fresh].sort(compareEstateIds)
  const rows = placesOf(ids)
  const newRowOf = Int32Array.from(oldIds, (id) => rows.get(id)!)
  return {
    ids,
    rowOf: (id) => rows.get(id) ?? -1,
    newRowOf,
    sourceOf: Int32Array.from(ids, (id) => known.get(id) ?? -1),
    areMoved: newRowOf.some((row, oldRow) => row !== oldRow),
  }
}
