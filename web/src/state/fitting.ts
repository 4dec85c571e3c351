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

/** Parcels of air on each side. */
const MARGIN = 1.5

/** The box around some cells; undefined for none. Their numbers are those of docs/feed.md. */
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
 * The view that has a whole box in the part of the map that nothing covers, as near as that allows, but no nearer than
 * a single parcel is looked at.
 */
export function fittingView(box: Box, frame: Frame): View {
  const { width, height } = clearOf(frame)
  const columns = box.east - box.west + 1 + 2 * MARGIN
  const rows = box.north - box.south + 1 + 2 * MARGIN
  return viewOf(middleOf(box), Math.min(width / columns, height / rows, CLOSE_ZOOM), frame)
}

/** The view, moved so far that the middle of a box is not covered; the very same where it is not. */
export function uncoveredView(view: View, box: Box, frame: Frame): View {
  const clear = clearOf(frame)
  const middle = middleOf(box)
  const x = frame.width / 2 + (middle.x - view.x) * view.zoom
  const y = frame.height / 2 - (middle.y - view.y) * view.zoom
  const isAcross = x >= clear.left && x <= clear.left + clear.width
  const isAlong = y >= clear.top && y <= clear.top + clear.height
  return isAcross && isAlong ? view : viewOf(middle, view.zoom, frame)
}

/** The view that has a place in the middle of what nothing covers. */
function viewOf({ x, y }: Place, zoom: number, { covered }: Frame): View {
  return {
    x: x - (covered.left - covered.right) / 2 / zoom,
    y: y + (covered.top - covered.bottom) / 2 / zoom,
    zoom,
  }
}

/** What nothing covers, and never less than a little. */
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
