import type { FeedGrid } from '@landpass/client/feed'
import type { Place } from '../map/map-types.ts'
import type { Selection } from './explore-state.ts'
import { cellsOfEstate } from './layer-inks.ts'

const NONE = new Uint32Array(0)

/** The cells of a selection; none for one that this world does not have. */
export function selectedCells(grid: FeedGrid, selection: Selection | undefined): Uint32Array {
  if (!selection) return NONE
  if (selection.type === 'estate') return cellsOfEstate(grid, selection.id)
  const cell = grid.cellAt(selection.x, selection.y)
  return cell < 0 ? NONE : Uint32Array.of(cell)
}

/**
 * What picking a place selects: the estate that it belongs to, and the parcel itself when that estate is selected
 * already. Undefined where no land is.
 */
export function findPicked(
  grid: FeedGrid,
  { x, y }: Place,
  earlier: Selection | undefined,
): Selection | undefined {
  const { type, estate } = grid.tileAt(x, y)
  if (type === 'outside') return undefined
  const isWithin = earlier?.type === 'estate' && earlier.id === estate
  if (estate === undefined || isWithin) return { type: 'parcel', x, y }
  return { type: 'estate', id: estate }
}
