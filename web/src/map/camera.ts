import type { Place, View } from './map-types.ts'

/**
 * The arithmetic between world and screen. Parcel x,y reaches from x - 0.5 to x + 0.5, and north is up; the screen is
 * counted in CSS pixels from the upper left corner of the map, and down.
 */

export interface ScreenSize {
  readonly widthPx: number
  readonly heightPx: number
}

/** A point of the screen. */
export interface Spot {
  readonly xPx: number
  readonly yPx: number
}

/** The box around the world, in parcels, corners included. */
export interface Bounds {
  readonly minX: number
  readonly minY: number
  readonly maxX: number
  readonly maxY: number
}

/** As close as a reader may look: a parcel is as large as two fingertips. */
const CLOSEST_ZOOM = 96
/** Between the world and the edge of the screen, when all of it is shown. */
const MARGIN_PX = 16
/**
 * The smallest zoom, as a share of the one that shows the whole world: a little smaller, so that readers notice the
 * end.
 */
const BEYOND_WHOLE = 0.75
/**
 * How far the middle of the screen may be beyond the world, as a share of the screen. With half of it the world could
 * leave the screen.
 */
const MOST_BEYOND = 0.35

/** What is at a spot. Not a whole number unless the spot is the middle of a parcel. */
export function placeAt(view: View, size: ScreenSize, { xPx, yPx }: Spot): Place {
  return {
    x: view.x + (xPx - size.widthPx / 2) / view.zoom,
    y: view.y - (yPx - size.heightPx / 2) / view.zoom,
  }
}

/** Where a place is on the screen. */
export function spotOf(view: View, size: ScreenSize, { x, y }: Place): Spot {
  return {
    xPx: size.widthPx / 2 + (x - view.x) * view.zoom,
    yPx: size.heightPx / 2 - (y - view.y) * view.zoom,
  }
}

/** The parcel that a place lies in. */
export function parcelOf({ x, y }: Place): Place {
  // Plus 0, because the ceiling of -0.2 is -0, which is not a valid coordinate.
  return { x: Math.floor(x + 0.5), y: Math.ceil(y - 0.5) + 0 }
}

export function isInWorld({ minX, minY, maxX, maxY }: Bounds, { x, y }: Place): boolean {
  return x >= minX && x <= maxX && y >= minY && y <= maxY
}

/** The parcel of the world that is nearest to a place. */
export function nearestParcel({ minX, minY, maxX, maxY }: Bounds, place: Place): Place {
  const { x, y } = parcelOf(place)
  return { x: within(x, minX, maxX), y: within(y, minY, maxY) }
}

/** The view after the map was dragged by these distances. */
export function panned(view: View, rightPx: number, downPx: number): View {
  return { ...view, x: view.x - rightPx / view.zoom, y: view.y + downPx / view.zoom }
}

/** The view at another zoom in which the place at the spot stays where it is. */
export function zoomedAbout(view: View, size: ScreenSize, spot: Spot, zoom: number): View {
  const { x, y } = placeAt(view, size, spot)
  return {
    x: x - (spot.xPx - size.widthPx / 2) / zoom,
    y: y + (spot.yPx - size.heightPx / 2) / zoom,
    zoom,
  }
}

/** The whole world with a margin around it, in the middle of the screen. */
export function wholeWorld(size: ScreenSize, { minX, minY, maxX, maxY }: Bounds): View {
  const across = (lengthPx: number, parcels: number) => Math.max(1, lengthPx - 2 * MARGIN_PX) / parcels
  const zoom = Math.min(across(size.widthPx, maxX - minX + 1), across(size.heightPx, maxY - minY + 1))
  return { x: (minX + maxX) / 2, y: (minY + maxY) / 2, zoom: Math.min(zoom, CLOSEST_ZOOM) }
}

/** The nearest allowed zoom. */
export function allowedZoom(zoom: number, size: ScreenSize, bounds: Bounds): number {
  return within(zoom, wholeWorld(size, bounds).zoom * BEYOND_WHOLE, CLOSEST_ZOOM)
}

/**
 * The nearest view in which enough of the world is on the screen; the same object where that is so already. The edge of
 * the world may be moved past the middle, so that land under a panel can be brought into the free part.
 */
export function allowedView(view: View, size: ScreenSize, bounds: Bounds): View {
  const { minX, minY, maxX, maxY } = bounds
  const zoom = allowedZoom(view.zoom, size, bounds)
  const beyondX = (size.widthPx * MOST_BEYOND) / zoom
  const beyondY = (size.heightPx * MOST_BEYOND) / zoom
  const x = within(view.x, minX - 0.5 - beyondX, maxX + 0.5 + beyondX)
  const y = within(view.y, minY - 0.5 - beyondY, maxY + 0.5 + beyondY)
  return x === view.x && y === view.y && zoom === view.zoom ? view : { x, y, zoom }
}

/**
 * About twice or half the zoom, rounded so that a parcel is a whole number of device pixels wide and all parcels are
 * equally large. Very small parcels are not rounded: the steps would be too coarse.
 */
export function nextZoom(zoom: number, direction: 'in' | 'out', pixelsPerPx: number): number {
  const wanted = direction === 'in' ? zoom * 2 : zoom / 2
  const pixels = wanted * pixelsPerPx
  return pixels < LEAST_WHOLE_PIXELS ? wanted : Math.round(pixels) / pixelsPerPx
}

const LEAST_WHOLE_PIXELS = 5

/** The view nearest to this one in which a place is at least so many pixels away from the edges. */
export function withInSight(view: View, size: ScreenSize, place: Place, marginPx: number): View {
  const { xPx, yPx } = spotOf(view, size, place)
  const margin = Math.min(marginPx, size.widthPx / 2, size.heightPx / 2)
  const rightPx = within(xPx, margin, size.widthPx - margin) - xPx
  const downPx = within(yPx, margin, size.heightPx - margin) - yPx
  return rightPx === 0 && downPx === 0 ? view : panned(view, rightPx, downPx)
}

export function isOnScreen(view: View, size: ScreenSize, place: Place): boolean {
  const { xPx, yPx } = spotOf(view, size, place)
  return xPx >= 0 && yPx >= 0 && xPx <= size.widthPx && yPx <= size.heightPx
}

/**
 * A view between two others. The zoom changes at a constant rate about one fixed spot of the screen, the straightest
 * path.
 *
 * @param t from 0 to 1
 */
export function between(from: View, to: View, t: number): View {
  const zoom = from.zoom * (to.zoom / from.zoom) ** t
  const isPan = Math.abs(to.zoom / from.zoom - 1) < 1e-3
  const left = isPan ? 1 - t : (1 / zoom - 1 / to.zoom) / (1 / from.zoom - 1 / to.zoom)
  return { x: to.x + (from.x - to.x) * left, y: to.y + (from.y - to.y) * left, zoom }
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
