import type { StateParts } from './parts.ts'
import { KIND_MASK, KINDS } from './tile-cells.ts'

/** Collected when they are first asked for; revisions that redraw no cell share the cells, and this with them. */
const unownedIn = new WeakMap<Uint8Array, Uint32Array>()

/** Rows of the parcels that nobody owns and no district has. */
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
