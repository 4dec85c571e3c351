import { DIMMED } from './inks.ts'
import { FIRST_DIMMED_PIXEL, FIRST_INK_PIXEL } from './map-palette.ts'

/**
 * Paints parcels as pixels. Pure: typed arrays in, typed arrays out.
 *
 * A parcel reaches from `edgePx(column)` to `edgePx(column + 1)` of the screen's own pixels, so its edges are sharp at
 * every zoom. It begins with a gap in the west and in the north, which is filled where it joins its neighbour; the
 * corner of the two gaps is filled where it joins both of them and the one between.
 */

/** What is painted, in the order of the feed (docs/feed.md): columns from west to east, each from north to south. */
export interface Ground {
  readonly columns: number
  readonly rows: number
  /** Kind and joins of each cell. */
  readonly cells: Uint8Array
  /** The ink of each cell, 0 for none, with or without `DIMMED`; undefined for none at all. */
  readonly inks: Uint8Array | undefined
}

/** A rectangle of cells. */
export interface CellRange {
  readonly column: number
  readonly row: number
  readonly columns: number
  readonly rows: number
}

const KIND_BITS = 0b111
const JOINS_LEFT = 8
const JOINS_TOP = 16
const JOINS_TOP_LEFT = 32
const JOINS_ALL = JOINS_LEFT | JOINS_TOP | JOINS_TOP_LEFT

/** Gaps between smaller parcels would take more of the picture than the parcels. */
const LEAST_WITH_GAPS_PX = 5

/** Where a column or row begins. @param cellPx side of a parcel in the screen's own pixels, not always a whole number */
export function edgePx(cell: number, cellPx: number): number {
  return Math.round(cell * cellPx)
}

/** Width of the gap between parcels: the same as in the server's pictures. */
export function gapPx(cellPx: number): number {
  if (cellPx < LEAST_WITH_GAPS_PX) return 0
  return cellPx < 15 ? 1 : cellPx < 31 ? 2 : cellPx < 96 ? 3 : 4
}

/** The size of the picture of a range. */
export function rangeSizePx({ column, row, columns, rows }: CellRange, cellPx: number) {
  return {
    widthPx: edgePx(column + columns, cellPx) - edgePx(column, cellPx),
    heightPx: edgePx(row + rows, cellPx) - edgePx(row, cellPx),
  }
}

/** A picture of some cells that is to be painted. */
export interface RangePicture {
  readonly ground: Ground
  readonly range: CellRange
  readonly cellPx: number
  /** The colours, from `pixelsOf`. */
  readonly colours: Uint32Array
  /** The output, row by row, of the size that {@link rangeSizePx} says; every pixel is written. */
  readonly pixels: Uint32Array
}

export function paintRange(picture: RangePicture): void {
  const { range, cellPx, pixels } = picture
  const { widthPx } = rangeSizePx(range, cellPx)
  const gap = gapPx(cellPx)
  const north = edgePx(range.row, cellPx)
  for (let row = range.row; row < range.row + range.rows; row++) {
    const top = edgePx(row, cellPx) - north
    const bottom = edgePx(row + 1, cellPx) - north
    const body = Math.min(top + gap, bottom)
    // All pixel lines of a row of parcels are copies of two: one through the gaps in the north, one through the
    // parcels.
    if (body > top) {
      paintLine(picture, row, top * widthPx, { isGap: true })
      repeatLine(pixels, widthPx, top, body)
    }
    if (bottom > body) {
      paintLine(picture, row, body * widthPx, { isGap: false })
      repeatLine(pixels, widthPx, body, bottom)
    }
  }
}

function paintLine(picture: RangePicture, row: number, lineAt: number, { isGap }: { isGap: boolean }): void {
  const { ground, range, cellPx, colours, pixels } = picture
  const { rows, cells, inks } = ground
  const gap = gapPx(cellPx)
  const lineStart = lineAt - edgePx(range.column, cellPx)
  const empty = colours[0]!
  const cornerJoins = isGap ? JOINS_ALL : JOINS_LEFT
  let at = lineAt
  for (let column = range.column; column < range.column + range.columns; column++) {
    const number = column * rows + row
    const cell = cells[number]!
    const own = colourOf(cell, inks === undefined ? 0 : inks[number]!, colours)
    const corner = (cell & cornerJoins) === cornerJoins ? own : empty
    const body = isGap && (cell & JOINS_TOP) === 0 ? empty : own
    const end = lineStart + edgePx(column + 1, cellPx)
    const gapEnd = Math.min(at + gap, end)
    while (at < gapEnd) pixels[at++] = corner
    while (at < end) pixels[at++] = body
  }
}

function repeatLine(pixels: Uint32Array, widthPx: number, line: number, endLine: number): void {
  const from = line * widthPx
  for (let next = line + 1; next < endLine; next++) {
    pixels.copyWithin(next * widthPx, from, from + widthPx)
  }
}

/** Paints the whole world with a pixel for each parcel, row by row. @param pixels one for each cell */
export function paintOverview(
  { columns, rows, cells, inks }: Ground,
  colours: Uint32Array,
  pixels: Uint32Array,
): void {
  for (let column = 0, number = 0; column < columns; column++) {
    for (let row = 0, at = column; row < rows; row++, number++, at += columns) {
      pixels[at] = colourOf(cells[number]!, inks === undefined ? 0 : inks[number]!, colours)
    }
  }
}

/** The colour of a cell. Cells without land ignore their ink. */
function colourOf(cell: number, ink: number, colours: Uint32Array): number {
  const kind = cell & KIND_BITS
  const shown = ink & ~DIMMED
  const pixel = shown > 0 && kind > 0 ? FIRST_INK_PIXEL + shown : kind
  return colours[ink === shown ? pixel : FIRST_DIMMED_PIXEL + pixel]!
}
