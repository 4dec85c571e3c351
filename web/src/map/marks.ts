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
/** Smaller cells light up in this size. */
const LEAST_LIT_PX = 7
/** More cells than this are seen as they are, and are faster drawn one by one than as one shape. */
const MOST_ENLARGED = 64

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

export interface BoxPx {
  readonly leftPx: number
  readonly topPx: number
  readonly widthPx: number
  readonly heightPx: number
}

/** In CSS pixels. */
const DOT_PX = 5

/** Draws a dot in the middle of each cell. @param cells numbers as in the feed */
export function drawDots(
  context: CanvasRenderingContext2D,
  frame: Frame,
  cells: { readonly numbers: ArrayLike<number>; readonly rows: number },
  { line, halo, pixelsPerPx }: LineStyle,
): void {
  const { numbers, rows } = cells
  context.fillStyle = line
  context.strokeStyle = halo
  context.lineWidth = HALO_PX * pixelsPerPx
  for (let i = 0; i < numbers.length; i++) {
    const column = Math.floor(numbers[i]! / rows)
    const box = spotPx({ column, row: numbers[i]! % rows, columns: 1, rows: 1 }, frame)
    context.beginPath()
    context.arc(
      box.leftPx + box.widthPx / 2,
      box.topPx + box.heightPx / 2,
      DOT_PX * pixelsPerPx,
      0,
      2 * Math.PI,
    )
    context.fill()
    context.stroke()
  }
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

/**
 * Where cells that light up are on the screen. A few small ones are enlarged, so that a change is seen on a map of the
 * whole world.
 *
 * @param cells numbers as in the feed
 */
export function litBoxes(
  frame: Frame,
  cells: { readonly numbers: ArrayLike<number>; readonly rows: number },
  pixelsPerPx: number,
): BoxPx[] {
  const { numbers, rows } = cells
  const leastPx = numbers.length <= MOST_ENLARGED ? Math.round(LEAST_LIT_PX * pixelsPerPx) : 0
  const boxes: BoxPx[] = []
  for (let i = 0; i < numbers.length; i++) {
    const column = Math.floor(numbers[i]! / rows)
    const box = enlarged(spotPx({ column, row: numbers[i]! % rows, columns: 1, rows: 1 }, frame), leastPx)
    if (isOnScreen(box, frame)) boxes.push(box)
  }
  return boxes
}

function enlarged({ leftPx, topPx, widthPx, heightPx }: BoxPx, leastPx: number): BoxPx {
  const moreAcross = Math.max(0, Math.ceil((leastPx - widthPx) / 2))
  const moreDown = Math.max(0, Math.ceil((leastPx - heightPx) / 2))
  return {
    leftPx: leftPx - moreAcross,
    topPx: topPx - moreDown,
    widthPx: widthPx + 2 * moreAcross,
    heightPx: heightPx + 2 * moreDown,
  }
}

function isOnScreen({ leftPx, topPx, widthPx, heightPx }: BoxPx, frame: Frame): boolean {
  const isAcross = leftPx < frame.widthPx && leftPx + widthPx > 0
  return isAcross && topPx < frame.heightPx && topPx + heightPx > 0
}

/** Tints boxes with a colour, each spot once. @param strength 0 for nothing, 1 for the full colour */
export function tintBoxes(
  context: CanvasRenderingContext2D,
  boxes: readonly BoxPx[],
  tint: { readonly colour: string; readonly strength: number },
): void {
  context.globalAlpha = tint.strength
  context.fillStyle = tint.colour
  if (boxes.length <= MOST_ENLARGED) {
    outlineBoxes(context, boxes)
    context.fill()
  } else
    for (const { leftPx, topPx, widthPx, heightPx } of boxes)
      context.fillRect(leftPx, topPx, widthPx, heightPx)
  context.globalAlpha = 1
}

/** Limits drawing to some boxes; to the box around them where they are many. */
export function clipToBoxes(context: CanvasRenderingContext2D, boxes: readonly BoxPx[]): void {
  outlineBoxes(context, boxes.length <= MOST_ENLARGED ? boxes : [boxAround(boxes)])
  context.clip()
}

function outlineBoxes(context: CanvasRenderingContext2D, boxes: readonly BoxPx[]): void {
  context.beginPath()
  for (const { leftPx, topPx, widthPx, heightPx } of boxes) context.rect(leftPx, topPx, widthPx, heightPx)
}

function boxAround(boxes: readonly BoxPx[]): BoxPx {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { leftPx, topPx, widthPx, heightPx } of boxes) {
    left = Math.min(left, leftPx)
    top = Math.min(top, topPx)
    right = Math.max(right, leftPx + widthPx)
    bottom = Math.max(bottom, topPx + heightPx)
  }
  return { leftPx: left, topPx: top, widthPx: right - left, heightPx: bottom - top }
}
