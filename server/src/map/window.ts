import type { Coord } from '@landpass/client/grid'
import { reusedBytes } from '../image/reused-memory.ts'
import { KIND_MASK } from '../state/parts/tile-cells.ts'
import type { MapState } from './map-state.ts'
import { INKS } from './palette.ts'
import { edgePx, type View } from './view.ts'

/** The eight neighbours of a parcel, one bit each. */
export const NORTH = 0b0000_0001
export const NORTH_EAST = 0b0000_0010
export const EAST = 0b0000_0100
export const SOUTH_EAST = 0b0000_1000
export const SOUTH = 0b0001_0000
export const SOUTH_WEST = 0b0010_0000
export const WEST = 0b0100_0000
export const NORTH_WEST = 0b1000_0000

/** Bit of a cell of a window, in addition to those of tile-cells.ts: the parcel is selected. */
export const IS_SELECTED = 0b0100_0000

/** Cells of an image of 2,048 pixels with parcels of five: memory for more is not kept. */
export const MOST_CELLS = 180_000
const CELLS = reusedBytes(MOST_CELLS)
const NEAR = reusedBytes(MOST_CELLS)
const NEAR_ROWS = reusedBytes(MOST_CELLS)

/** The part of the land that a view shows, including parcels that the edges cut. */
export interface Window {
  readonly minX: number
  readonly maxY: number
  readonly columns: number
  readonly rows: number
  /**
   * Kind (`INKS.onSale` where there is an offer) and joins of each cell, in rows from north to south, each from west to
   * east: x,y is `cells[(maxY - y) * columns + x - minX]`. (`MapState.cells` are in columns, but images have rows.)
   */
  readonly cells: Uint8Array
  /** For each cell the bits of its selected neighbours. Undefined where no parcel is selected. */
  readonly near: Uint8Array | undefined
  /** Per row, 1 if one of its cells is selected or next to a selected one. */
  readonly isRowNearSelected: Uint8Array
}

/** Copies the part of the land that a view with gaps shows. It is valid until the next view is opened. */
export function openWindow(state: MapState, view: View): Window {
  const { widthPx, heightPx, sizePx, originXPx, originYPx, selected } = view
  const across = shownOf(originXPx, sizePx, widthPx)
  const down = shownOf(originYPx, sizePx, heightPx)
  const minX = across.first
  const maxY = 0 - down.first
  const columns = across.last - across.first + 1
  const rows = down.last - down.first + 1
  const window = {
    minX,
    maxY,
    columns,
    rows,
    cells: CELLS.take(columns * rows).fill(INKS.outside),
    near: selected.length > 0 ? NEAR.take(columns * rows).fill(0) : undefined,
    isRowNearSelected: NEAR_ROWS.take(rows).fill(0),
  }
  copyCells(state, window)
  for (const coord of selected) select(window, coord)
  return window
}

/** The first and last column that a pixel of an image belongs to, or the rows, counted from the north. */
function shownOf(originPx: number, sizePx: number, lengthPx: number): { first: number; last: number } {
  let first = Math.floor(-originPx / sizePx)
  let last = Math.floor((lengthPx - 1 - originPx) / sizePx)
  // Rounded edges lie up to half a pixel beside these.
  while (edgePx(originPx, first, sizePx) > 0) first--
  while (edgePx(originPx, first + 1, sizePx) <= 0) first++
  while (edgePx(originPx, last, sizePx) >= lengthPx) last--
  while (edgePx(originPx, last + 1, sizePx) < lengthPx) last++
  return { first, last }
}

function copyCells({ bounds, cells, rowAt, offers }: MapState, window: Window): void {
  const height = bounds.maxY - bounds.minY + 1
  const fromX = Math.max(window.minX, bounds.minX)
  const toX = Math.min(window.minX + window.columns - 1, bounds.maxX)
  const fromY = Math.min(window.maxY, bounds.maxY)
  const toY = Math.max(window.maxY - window.rows + 1, bounds.minY)
  for (let x = fromX; x <= toX; x++) {
    let from = (x - bounds.minX) * height + bounds.maxY - fromY
    let to = (window.maxY - fromY) * window.columns + x - window.minX
    for (let y = fromY; y >= toY; y--) {
      const cell = cells[from]!
      const row = offers ? rowAt[from]! : -1
      window.cells[to] = row >= 0 && offers![row]! >= 0 ? (cell & ~KIND_MASK) | INKS.onSale : cell
      from++
      to += window.columns
    }
  }
}

/**
 * Marks a parcel as selected. It may lie just outside of the window: its neighbours inside show a part of its outline.
 */
function select(window: Window, { x, y }: Coord): void {
  const column = x - window.minX
  const row = window.maxY - y
  if (column < -1 || column > window.columns || row < -1 || row > window.rows) return
  if (isInside(window, column, row)) window.cells[row * window.columns + column]! |= IS_SELECTED
  markNeighbour(window, column, row - 1, SOUTH)
  markNeighbour(window, column - 1, row - 1, SOUTH_EAST)
  markNeighbour(window, column - 1, row, EAST)
  markNeighbour(window, column - 1, row + 1, NORTH_EAST)
  markNeighbour(window, column, row + 1, NORTH)
  markNeighbour(window, column + 1, row + 1, NORTH_WEST)
  markNeighbour(window, column + 1, row, WEST)
  markNeighbour(window, column + 1, row - 1, SOUTH_WEST)
}

function markNeighbour(window: Window, column: number, row: number, side: number): void {
  if (row >= 0 && row < window.rows) window.isRowNearSelected[row] = 1
  if (isInside(window, column, row)) window.near![row * window.columns + column]! |= side
}

function isInside({ columns, rows }: Window, column: number, row: number): boolean {
  return column >= 0 && column < columns && row >= 0 && row < rows
}
