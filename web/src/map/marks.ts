import { edgePx } from './cell-painter.ts'
import { type Frame, spotPx } from './ground-picture.ts'
import type { Outline } from './outline.ts'

/** Draws over the land: outlines around cells, and highlighted cells. All sizes are in device pixels. */

export interface LineStyle {
  readonly line: string
  /** Drawn on both sides of the line, so that it is visible against any colour. */
  readonly halo: string
  /** How many pixels of the screen a CSS pixel has. */
  readonly pixelsPerPx: number
}

/** In CSS pixels. */
const LINE_PX = 2
const HALO_PX = 1.5
/** Smaller outlines get a ring, so that they can be found among a hundred thousand parcels. */
const LEAST_SEEN_PX = 22
const RING_PX = 15

/** Draws an outline such that it is seen at every zoom. */
export function drawOutline(
  context: CanvasRenderingContext2D,
  frame: Frame,
  outline: Outline,
  style: LineStyle,
) {
  const { line, halo, pixelsPerPx } = style
  const half = Math.max(1, Math.round((LINE_PX * pixelsPerPx) / 2))
  fillLines(context, frame, outline, half + Math.max(1, Math.round(HALO_PX * pixelsPerPx)), halo)
  fillLines(context, frame, outline, half, line)
  const { west, north, east, south } = outline.box
  const box = spotPx({ column: west, row: north, columns: east - west, rows: south - north }, frame)
  if (Math.max(box.widthPx, box.heightPx) < LEAST_SEEN_PX * pixelsPerPx) drawRing(context, box, style)
}

/** Lines as rectangles: sharp, and filled many times as fast as a path is stroked. */
function fillLines(
  context: CanvasRenderingContext2D,
  { widthPx, heightPx, cellPx, leftPx, topPx }: Frame,
  { horizontal, vertical }: Outline,
  half: number,
  colour: string,
): void {
  context.fillStyle = colour
  for (let i = 0; i < horizontal.length; i += 3) {
    const y = topPx + edgePx(horizontal[i]!, cellPx)
    const from = leftPx + edgePx(horizontal[i + 1]!, cellPx)
    const to = leftPx + edgePx(horizontal[i + 2]!, cellPx)
    if (y < -half || y > heightPx + half || to < -half || from > widthPx + half) continue
    context.fillRect(from - half, y - half, to - from + 2 * half, 2 * half)
  }
  for (let i = 0; i < vertical.length; i += 3) {
    const x = leftPx + edgePx(vertical[i]!, cellPx)
    const from = topPx + edgePx(vertical[i + 1]!, cellPx)
    const to = topPx + edgePx(vertical[i + 2]!, cellPx)
    if (x < -half || x > widthPx + half || to < -half || from > heightPx + half) continue
    context.fillRect(x - half, from - half, 2 * half, to - from + 2 * half)
  }
}

interface BoxPx {
  readonly leftPx: number
  readonly topPx: number
  readonly widthPx: number
  readonly heightPx: number
}

function drawRing(
  context: CanvasRenderingContext2D,
  { leftPx, topPx, widthPx, heightPx }: BoxPx,
  { line, halo, pixelsPerPx }: LineStyle,
): void {
  context.beginPath()
  context.arc(leftPx + widthPx / 2, topPx + heightPx / 2, RING_PX * pixelsPerPx, 0, 2 * Math.PI)
  context.lineWidth = (LINE_PX + 2 * HALO_PX) * pixelsPerPx
  context.strokeStyle = halo
  context.stroke()
  context.lineWidth = LINE_PX * pixelsPerPx
  context.strokeStyle = line
  context.stroke()
}

/** Tints cells with a colour. @param strength 0 for nothing, 1 for the full colour */
export function tintCells(
  context: CanvasRenderingContext2D,
  frame: Frame,
  cells: { readonly numbers: ArrayLike<number>; readonly rows: number },
  tint: { readonly colour: string; readonly strength: number },
): void {
  context.globalAlpha = tint.strength
  context.fillStyle = tint.colour
  for (let i = 0; i < cells.numbers.length; i++) {
    const number = cells.numbers[i]!
    const column = Math.floor(number / cells.rows)
    const box = spotPx({ column, row: number % cells.rows, columns: 1, rows: 1 }, frame)
    context.fillRect(box.leftPx, box.topPx, box.widthPx, box.heightPx)
  }
  context.globalAlpha = 1
}
