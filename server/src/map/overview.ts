import type { PixelImage } from '../image/palette-png.ts'
import { KIND_MASK, KINDS } from '../state/parts/tile-cells.ts'
import type { MapState } from './map-state.ts'
import { INKS, PALETTES } from './palette.ts'
import type { View } from './view.ts'

/**
 * Draws an image of small squares of one ink each, without gaps. A parcel is a square of a few pixels, or several
 * parcels share one pixel, which then shows the ink with the highest weight ({@link WEIGHTS}). A square that contains a
 * selected parcel is drawn as selected, with an outline of one pixel.
 */
export function overviewOf(state: MapState, view: View): PixelImage {
  const { widthPx, heightPx, theme } = view
  const pixels = new Uint8Array(widthPx * heightPx).fill(INKS.outside)
  const squares = squaresOf(view)
  drawLand(state, view, squares, pixels)
  drawSelected(view, squares, pixels)
  return { widthPx, heightPx, palette: PALETTES[theme], pixels }
}

/** The grid of squares. Square 0,0 contains parcel 0,0; columns count to the east, rows to the north. */
interface Squares {
  readonly sidePx: number
  /** Parcels on each side of a square: 1, or more where they share a pixel. */
  readonly parcels: number
  /** The upper edge of the squares in row 0, in whole pixels. */
  readonly originYPx: number
  /** How many parcels of row 0 lie to the north of parcel 0,0. */
  readonly ahead: number
}

/**
 * The weight of a parcel in a shared pixel, by ink: higher for roads, plazas and offers, so that thin roads and single
 * offers stay visible. Of two inks with the same sum the one with the higher number is shown.
 */
const WEIGHTS = weightsOf({ road: 2, plaza: 2, onSale: 2 })

function squaresOf(view: View): Squares {
  const sidePx = Math.max(1, view.sizePx)
  const parcels = Math.max(1, Math.round(1 / view.sizePx))
  const originYPx = Math.floor(view.originYPx)
  return { sidePx, parcels, originYPx, ahead: Math.round((view.originYPx - originYPx) * parcels) }
}

/** The row of the squares that contain the parcels with this y. */
function rowOf({ parcels, ahead }: Squares, y: number): number {
  return Math.ceil((y - ahead) / parcels)
}

function drawLand(state: MapState, view: View, squares: Squares, pixels: Uint8Array): void {
  const { minX, minY, maxX, maxY } = state.bounds
  const { widthPx, heightPx, originXPx } = view
  const { sidePx, parcels, originYPx, ahead } = squares
  const west = Math.max(Math.floor(minX / parcels), Math.floor(-originXPx / sidePx))
  const east = Math.min(Math.floor(maxX / parcels), Math.floor((widthPx - 1 - originXPx) / sidePx))
  const north = Math.min(rowOf(squares, maxY), Math.ceil(originYPx / sidePx))
  const south = Math.max(rowOf(squares, minY), Math.ceil((originYPx - heightPx + 1) / sidePx))
  const inks = new Uint8Array(Math.max(0, north - south + 1))
  // Column by column, in the order of the cells. Writes only the uppermost row of pixels of each square.
  for (let column = west; column <= east; column++) {
    const northY = north * parcels + ahead
    if (parcels === 1) copyInks(state, column, northY, inks)
    else weighInks(state, column, northY, parcels, inks)
    const fromPx = Math.max(originXPx + column * sidePx, 0)
    const toPx = Math.min(originXPx + (column + 1) * sidePx, widthPx)
    for (let i = 0; i < inks.length; i++) {
      const line = Math.max(originYPx - (north - i) * sidePx, 0) * widthPx
      for (let px = fromPx; px < toPx; px++) pixels[line + px] = inks[i]!
    }
  }
  for (let row = north; row >= south; row--) repeatLine(view, originYPx - row * sidePx, sidePx, pixels)
}

/** Writes the inks of the parcels with this x, from north to south, into `inks`. */
function copyInks(state: MapState, x: number, northY: number, inks: Uint8Array): void {
  const { bounds, cells, rowAt, offers } = state
  inks.fill(INKS.outside)
  if (x < bounds.minX || x > bounds.maxX) return
  const firstCell = (x - bounds.minX) * (bounds.maxY - bounds.minY + 1) + bounds.maxY - northY
  const to = Math.min(inks.length, northY - bounds.minY + 1)
  for (let i = Math.max(0, northY - bounds.maxY); i < to; i++) {
    const parcel = offers ? rowAt[firstCell + i]! : -1
    inks[i] = parcel >= 0 && offers![parcel]! >= 0 ? INKS.onSale : cells[firstCell + i]! & KIND_MASK
  }
}

/**
 * The inks of a column of squares from north to south, each of `parcels` x `parcels` parcels: the one with the highest
 * weight.
 */
function weighInks(state: MapState, column: number, northY: number, parcels: number, inks: Uint8Array): void {
  const weights = new Uint32Array(inks.length * WEIGHTS.length)
  const inksOfParcels = new Uint8Array(inks.length * parcels)
  for (let x = column * parcels; x < (column + 1) * parcels; x++) {
    copyInks(state, x, northY, inksOfParcels)
    let from = 0
    for (let i = 0; i < inks.length; i++) {
      for (let k = 0; k < parcels; k++) {
        const ink = inksOfParcels[from++]!
        weights[i * WEIGHTS.length + ink]! += WEIGHTS[ink]!
      }
    }
  }
  for (let i = 0; i < inks.length; i++) {
    inks[i] = heaviestInk(weights, i * WEIGHTS.length)
  }
}

function heaviestInk(weights: Uint32Array, from: number): number {
  let heaviest = 0
  for (let ink = 1; ink < WEIGHTS.length; ink++)
    if (weights[from + ink]! >= weights[from + heaviest]!) heaviest = ink
  return heaviest
}

/** Copies the uppermost row of pixels of a row of squares to their other rows of pixels. */
function repeatLine({ widthPx, heightPx }: View, topPx: number, sidePx: number, pixels: Uint8Array): void {
  const fromPx = Math.max(topPx, 0)
  const toPx = Math.min(topPx + sidePx, heightPx)
  for (let py = fromPx + 1; py < toPx; py++) {
    pixels.copyWithin(py * widthPx, fromPx * widthPx, (fromPx + 1) * widthPx)
  }
}

/** Draws all outlines first, so that no outline covers a selected square. */
function drawSelected(view: View, squares: Squares, pixels: Uint8Array): void {
  const { sidePx, parcels, originYPx } = squares
  const corners = view.selected.map(({ x, y }) => ({
    leftPx: view.originXPx + Math.floor(x / parcels) * sidePx,
    topPx: originYPx - rowOf(squares, y) * sidePx,
  }))
  for (const { leftPx, topPx } of corners) {
    fillSquare(view, pixels, leftPx - 1, topPx - 1, sidePx + 2, INKS.outline)
  }
  for (const { leftPx, topPx } of corners) fillSquare(view, pixels, leftPx, topPx, sidePx, INKS.selected)
}

function fillSquare(
  { widthPx, heightPx }: View,
  pixels: Uint8Array,
  leftPx: number,
  topPx: number,
  sidePx: number,
  ink: number,
): void {
  const toX = Math.min(leftPx + sidePx, widthPx)
  const toY = Math.min(topPx + sidePx, heightPx)
  for (let py = Math.max(topPx, 0); py < toY; py++) {
    for (let px = Math.max(leftPx, 0); px < toX; px++) pixels[py * widthPx + px] = ink
  }
}

function weightsOf(weights: Partial<Record<keyof typeof KINDS | 'onSale', number>>): Uint8Array {
  const kinds = [...Object.keys(KINDS), 'onSale'] as (keyof typeof weights)[]
  return Uint8Array.from(kinds, (kind) => weights[kind] ?? 1)
}
