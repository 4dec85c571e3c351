import type { StateParts } from './parts.ts'
import { KIND_MASK, KINDS } from './tile-cells.ts'

/** Cached per array of cells: revisions that change no cell share the array, and so the result. */
const unownedIn = new WeakMap<Uint8Array, Uint32Array>()

/** Rows of the parcels that have neither an owner nor a district. */
export function unownedParcels({
  cells,
  parcels: { rowAt },
}: Pick<StateParts, 'cells' | 'parcels'>): Uint32Array {
  const found = unownedIn.get(cells)
  if (found) return found
  const rows: number[] = []
  for (let cell = 0; cell < cells.length; cell++) {
    if ((cells[cell]! & KIND_MASK) === KINDS.unowned) rows.push(rowAt[cell]!)
  }
  const unowned = Uint32Array.from(rows)
  unownedIn.set(cells, unowned)
  return unowned
}
