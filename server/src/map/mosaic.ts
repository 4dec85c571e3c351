import { MOST_BANDS } from '../image/band-image.ts'
import type { BandImage, PixelImage } from '../image/palette-png.ts'
import { reusedIntegers, reusedShorts } from '../image/reused-memory.ts'
import { JOINS_LEFT, JOINS_TOP, JOINS_TOP_LEFT, KIND_MASK } from '../state/parts/tile-cells.ts'
import type { MapState } from './map-state.ts'
import { INKS, PALETTES } from './palette.ts'
import { edgePx, type View } from './view.ts'
import {
  EAST,
  IS_SELECTED,
  MOST_CELLS,
  NORTH,
  NORTH_EAST,
  NORTH_WEST,
  openWindow,
  SOUTH,
  SOUTH_EAST,
  SOUTH_WEST,
  WEST,
  type Window,
} from './window.ts'

/**
 * Draws an image in which each parcel is a square of several pixels. A square is divided into four zones from west to
 * east, and into four zones from north to south. Each of the sixteen fields has one colour.
 *
 * ```
 *   0      gap     outline         size + gap - outline     size
 *   │ zone 0 │ zone 1 │           zone 2        │   zone 3   │
 * ```
 *
 * Zone 0 is the gap: it has the colour of the ground, or of the parcel where the parcel joins its neighbour in the west
 * or north. The corner is filled where the parcel joins its western, northern and north-western neighbour. The other
 * zones have the colour of the parcel.
 *
 * Selected parcels have an outline. It covers zones 0 and 1 of their eastern and southern neighbours, zone 3 of their
 * western and northern neighbours, and zone 0 of the selected parcel itself. Between two selected parcels zone 0 is
 * filled if they join, and has the colour of a seam if they do not.
 *
 * A row of parcels has only two different rows of pixels, or four near a selected parcel. Each is computed once.
 *
 * The image is valid until the next one is drawn: both use the same memory.
 */
export function mosaicOf(state: MapState, view: View): BandImage {
  const { widthPx, heightPx, sizePx, originXPx, theme } = view
  const window = openWindow(state, view)
  const { strips, rows, similar, bandCount } = layBands(window, view)
  // One object literal: V8 reads an object made by spreading more slowly, and encoding takes a quarter longer.
  return {
    widthPx,
    heightPx,
    palette: PALETTES[theme],
    firstPx: originXPx + window.minX * sizePx,
    stripPx: sizePx,
    partEndsPx: zonesOf(sizePx, sizePx),
    stripsPerRow: window.columns,
    bandCount,
    strips,
    rows,
    similar,
  }
}

/** Draws the same where the side of a parcel is a fraction of pixels: a parcel may be a pixel wider than its neighbour. */
export function unevenMosaicOf(state: MapState, view: View): PixelImage {
  const { widthPx, heightPx, sizePx, originXPx, theme } = view
  const window = openWindow(state, view)
  const { strips, rows, bandCount } = layBands(window, view)
  const pixels = new Uint8Array(widthPx * heightPx)
  const edgesPx = Int32Array.from({ length: window.columns + 1 }, (_, i) =>
    edgePx(originXPx, window.minX + i, sizePx),
  )
  let row = 0
  for (let band = 0; band < bandCount; band++) {
    const line = pixels.subarray(row * widthPx, (row + 1) * widthPx)
    paintLine(strips, band * window.columns, edgesPx, sizePx, line)
    for (let i = 1; i < rows[band]!; i++) pixels.set(line, (row + i) * widthPx)
    row += rows[band]!
  }
  return { widthPx, heightPx, palette: PALETTES[theme], pixels }
}

/** @param from index of the first strip of the line */
function paintLine(
  strips: Uint16Array,
  from: number,
  edgesPx: Int32Array,
  sizePx: number,
  line: Uint8Array,
): void {
  const narrow = zonesOf(sizePx, Math.floor(sizePx))
  const wide = zonesOf(sizePx, Math.ceil(sizePx))
  for (let i = 0; i + 1 < edgesPx.length; i++) {
    const startPx = edgesPx[i]!
    const ends = edgesPx[i + 1]! - startPx === narrow[3] ? narrow : wide
    let strip = strips[from + i]!
    let px = Math.max(startPx, 0)
    for (let part = 0; part < 4; part++) {
      const endPx = Math.min(startPx + ends[part]!, line.length)
      while (px < endPx) line[px++] = strip & 15
      strip >>= 4
    }
  }
}

function layBands(window: Window, view: View): Bands {
  const { sizePx, originYPx, heightPx } = view
  const bands = new Bands(window.rows * (window.near ? 4 : 2), window.columns)
  for (let row = 0; row < window.rows; row++) {
    const topPx = edgePx(originYPx, row - window.maxY, sizePx)
    const zoneEndsPx = zonesOf(sizePx, edgePx(originYPx, row + 1 - window.maxY, sizePx) - topPx)
    const isNearSelected = window.isRowNearSelected[row] === 1
    let fromPx = Math.max(topPx, 0)
    // Where nothing is selected, zones 1 to 3 look the same.
    for (let zone = 0; zone < 4; zone += zone === 0 || isNearSelected ? 1 : 3) {
      const lastZone = zone > 0 && !isNearSelected ? 3 : zone
      const toPx = Math.min(topPx + zoneEndsPx[lastZone]!, heightPx)
      if (toPx <= fromPx) continue
      const strips = bands.add(toPx - fromPx, { isGap: zone === 0 })
      if (isNearSelected) fillNearSelected(window, row, zone, strips)
      else fill(window, row, zone === 0 ? GAP_STRIPS : BODY_STRIPS, strips)
      fromPx = toPx
    }
  }
  return bands
}

const STRIPS = reusedShorts(2 * MOST_CELLS)
const ROWS = reusedShorts(MOST_BANDS)
const SIMILAR = reusedIntegers(MOST_BANDS)

/**
 * The bands of a {@link BandImage}, valid until those of the next one are laid. The similar band of a gap is the gap before,
 * that of a body the body before.
 */
class Bands {
  readonly strips: Uint16Array
  readonly rows: Uint16Array
  readonly similar: Int32Array
  readonly stripsPerRow: number
  bandCount = 0
  private latestGap = -1
  private latestBody = -1

  constructor(most: number, stripsPerRow: number) {
    this.strips = STRIPS.take(most * stripsPerRow)
    this.rows = ROWS.take(most)
    this.similar = SIMILAR.take(most)
    this.stripsPerRow = stripsPerRow
  }

  /** @returns the strips of the band, to be filled in */
  add(rows: number, { isGap }: { isGap: boolean }): Uint16Array {
    const band = this.bandCount++
    this.rows[band] = rows
    this.similar[band] = isGap ? this.latestGap : this.latestBody
    if (isGap) this.latestGap = band
    else this.latestBody = band
    return this.strips.subarray(band * this.stripsPerRow, (band + 1) * this.stripsPerRow)
  }
}

/** Multiplied by a colour: a strip with that colour in all four parts, or in the gap only. */
const ALL_PARTS = 0x1111
const GAP_PART = 0x0001
/** The parts of a strip that an outline covers on its western and on its eastern side. */
const WESTERN_MASK = 0x00ff
const EASTERN_MASK = 0xf000

/** By the bits of a cell, its strip in the gap to the north of the parcel, and its strip in the parcel itself. */
const GAP_STRIPS = Uint16Array.from({ length: 64 }, (_, cell) => gapStrip(cell, cell & KIND_MASK))
const BODY_STRIPS = Uint16Array.from({ length: 64 }, (_, cell) => bodyStrip(cell, cell & KIND_MASK))

function gapStrip(cell: number, ink: number): number {
  const joins = JOINS_LEFT | JOINS_TOP | JOINS_TOP_LEFT
  const corner = (cell & joins) === joins ? ink : INKS.outside
  const top = cell & JOINS_TOP ? ink : INKS.outside
  return corner * GAP_PART + top * (ALL_PARTS - GAP_PART)
}

function bodyStrip(cell: number, ink: number): number {
  const left = cell & JOINS_LEFT ? ink : INKS.outside
  return left * GAP_PART + ink * (ALL_PARTS - GAP_PART)
}

function fill({ cells, columns }: Window, row: number, stripOf: Uint16Array, strips: Uint16Array): void {
  const from = row * columns
  for (let i = 0; i < columns; i++) strips[i] = stripOf[cells[from + i]!]!
}

function fillNearSelected(
  { cells, near, columns }: Window,
  row: number,
  zone: number,
  strips: Uint16Array,
): void {
  const from = row * columns
  for (let i = 0; i < columns; i++) {
    const cell = cells[from + i]!
    const selectedNear = near![from + i]!
    if (cell & IS_SELECTED) {
      strips[i] = zone === 0 ? selectedGapStrip(cell, selectedNear) : selectedBodyStrip(cell, selectedNear)
    } else {
      const mask = outlineMask(selectedNear, zone)
      const plain = zone === 0 ? GAP_STRIPS[cell]! : BODY_STRIPS[cell]!
      strips[i] = (plain & ~mask) | ((INKS.outline * ALL_PARTS) & mask)
    }
  }
}

function selectedGapStrip(cell: number, near: number): number {
  const joins = JOINS_LEFT | JOINS_TOP | JOINS_TOP_LEFT
  const around = WEST | NORTH | NORTH_WEST
  const filledCorner = (cell & joins) === joins ? INKS.selected : INKS.seam
  const corner = (near & around) === around ? filledCorner : INKS.outline
  const top = near & NORTH ? (cell & JOINS_TOP ? INKS.selected : INKS.seam) : INKS.outline
  return corner * GAP_PART + top * (ALL_PARTS - GAP_PART)
}

function selectedBodyStrip(cell: number, near: number): number {
  const left = near & WEST ? (cell & JOINS_LEFT ? INKS.selected : INKS.seam) : INKS.outline
  return left * GAP_PART + INKS.selected * (ALL_PARTS - GAP_PART)
}

/** The parts of a strip that outlines of selected neighbours cover, as a mask. */
function outlineMask(near: number, zone: number): number {
  let western = WEST
  let eastern = EAST
  if (zone < 2) {
    if (near & NORTH) return 0xffff
    western |= NORTH_WEST
    eastern |= NORTH_EAST
  } else if (zone === 3) {
    if (near & SOUTH) return 0xffff
    western |= SOUTH_WEST
    eastern |= SOUTH_EAST
  }
  return (near & western ? WESTERN_MASK : 0) | (near & eastern ? EASTERN_MASK : 0)
}

/** Where each zone of a square ends, in pixels. */
type Zones = readonly [number, number, number, number]

/** @param sidePx of this parcel: `sizePx`, or a neighbouring whole number where that is a fraction */
function zonesOf(sizePx: number, sidePx: number): Zones {
  const gap = gapPx(sizePx)
  const outline = gap + 1
  return [gap, outline, sidePx + gap - outline, sidePx]
}

function gapPx(sizePx: number): number {
  return sizePx < 15 ? 1 : sizePx < 31 ? 2 : 3
}
