import type { Area } from '@landpass/client/grid'
import type { Place, View } from '../map/map-types.ts'
import { CLOSE_ZOOM } from './explore-state.ts'

/** The map on the screen, and how much of it is covered from each side, in CSS pixels. */
export interface Frame {
  readonly width: number
  readonly height: number
  readonly covered: {
    readonly left: number
    readonly right: number
    readonly top: number
    readonly bottom: number
  }
}

/** A box of parcels, corners included. */
export interface Box {
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
}

/** Free parcels on each side. */
const MARGIN = 1.5

/** The box around some cells, numbered as in docs/feed.md; undefined for no cells. */
export function findBox(cells: Uint32Array, { minX, minY, maxY }: Area): Box | undefined {
  if (cells.length === 0) return undefined
  const rows = maxY - minY + 1
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity]
  for (const cell of cells) {
    const x = minX + Math.floor(cell / rows)
    const y = maxY - (cell % rows)
    west = Math.min(west, x)
    east = Math.max(east, x)
    south = Math.min(south, y)
    north = Math.max(north, y)
  }
  return { west, east, south, north }
}

/**
 * The view that has a whole box in the part of the map that nothing covers, as near as that allows.
 *
 * @param maxZoom no nearer than this, in CSS pixels a parcel
 */
export function fittingView(box: Box, frame: Frame, maxZoom = CLOSE_ZOOM): View {
  const { width, height } = clearOf(frame)
  const columns = box.east - box.west + 1 + 2 * MARGIN
  const rows = box.north - box.south + 1 + 2 * MARGIN
  return viewOf(middleOf(box), Math.min(width / columns, height / rows, maxZoom), frame)
}

/**
 * The view for a box that was opened from a list or by search: unchanged where nothing covers any of the box, else the
 * view that has the box in the middle of the free part, zoomed out as far as the whole box needs.
 *
 * @example
 * // A parcel in the middle of a phone's map, whose lower half is under a panel, moves to the middle of the upper half.
 * openedView({ x: 0, y: 0, zoom: 20 }, { west: 0, east: 0, south: 0, north: 0 },
 *   { width: 400, height: 800, covered: { left: 0, right: 0, top: 0, bottom: 400 } }) // { x: 0, y: -10, zoom: 20 }
 */
export function openedView(view: View, box: Box, frame: Frame): View {
  if (isClear(view, box, frame)) return view
  return fittingView(box, frame, view.zoom)
}

/** A view that shows a box at this many times the size of another one is worth a jump of the map. */
const WORTH_A_JUMP = 2

/** {@link fittingView} where none of the box is seen, or where it makes the box much larger; else the view as it is. */
export function nearerView(view: View, box: Box, frame: Frame): View {
  const fitting = fittingView(box, frame)
  const isSmall = fitting.zoom >= WORTH_A_JUMP * view.zoom
  return isSmall || !touchesClear(view, box, frame) ? fitting : view
}

/** The view, moved so far that the middle of a box is not covered; unchanged where it is not. */
export function uncoveredView(view: View, box: Box, frame: Frame): View {
  const clear = clearOf(frame)
  const middle = middleOf(box)
  const x = frame.width / 2 + (middle.x - view.x) * view.zoom
  const y = frame.height / 2 - (middle.y - view.y) * view.zoom
  const isAcross = x >= clear.left && x <= clear.left + clear.width
  const isAlong = y >= clear.top && y <= clear.top + clear.height
  return isAcross && isAlong ? view : viewOf(middle, view.zoom, frame)
}

/** Whether nothing covers any part of a box. */
function isClear(view: View, box: Box, frame: Frame): boolean {
  const clear = clearOf(frame)
  const { left, right, top, bottom } = edgesOnScreen(view, box, frame)
  const isAcross = left >= clear.left && right <= clear.left + clear.width
  return isAcross && top >= clear.top && bottom <= clear.top + clear.height
}

/** Whether some of a box is in the free part. */
export function touchesClear(view: View, box: Box, frame: Frame): boolean {
  const clear = clearOf(frame)
  const { left, right, top, bottom } = edgesOnScreen(view, box, frame)
  const isAcross = right > clear.left && left < clear.left + clear.width
  return isAcross && bottom > clear.top && top < clear.top + clear.height
}

function edgesOnScreen({ x, y, zoom }: View, { west, east, south, north }: Box, { width, height }: Frame) {
  return {
    left: width / 2 + (west - 0.5 - x) * zoom,
    right: width / 2 + (east + 0.5 - x) * zoom,
    top: height / 2 - (north + 0.5 - y) * zoom,
    bottom: height / 2 - (south - 0.5 - y) * zoom,
  }
}

/** The view with a place in the middle of the free part. */
function viewOf({ x, y }: Place, zoom: number, { covered }: Frame): View {
  return {
    x: x - (covered.left - covered.right) / 2 / zoom,
    y: y + (covered.top - covered.bottom) / 2 / zoom,
    zoom,
  }
}

/** The free part of the map, at least a tenth in each direction. */
function clearOf({ width, height, covered: { left, right, top, bottom } }: Frame) {
  return {
    left,
    top,
    width: Math.max(width - left - right, width / 10),
    height: Math.max(height - top - bottom, height / 10),
  }
}

function middleOf({ west, east, south, north }: Box): Place {
  return { x: (west + east) / 2, y: (south + north) / 2 }
}
