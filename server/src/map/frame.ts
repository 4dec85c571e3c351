import type { Area, Coord } from '@landpass/client/grid'
import type { View } from './view.ts'

/** The size of an image, and of each parcel in it, in pixels. */
export interface Frame {
  readonly widthPx: number
  readonly heightPx: number
  readonly sizePx: number
}

/** Where the land lies in an image: see {@link View}. */
type Origin = Pick<View, 'originXPx' | 'originYPx'>

/** The most parcels that an image may show, as {@link countParcels} counts them. */
export const MAX_PARCELS = 15_000

/**
 * The number of parcels of an image: whole columns times whole rows, one more of each than fit, rounded up to an even
 * number.
 *
 * @example
 * countParcels({ widthPx: 2048, heightPx: 2048, sizePx: 10 }) // 42436
 */
export function countParcels({ widthPx, heightPx, sizePx }: Frame): number {
  const columns = Math.ceil(widthPx / sizePx + 1)
  const rows = Math.ceil(heightPx / sizePx + 1)
  return evenFrom(columns) * evenFrom(rows)
}

function evenFrom(count: number): number {
  return 2 * Math.ceil(count / 2)
}

/** Below what a rounding error can add to a whole number of pixels. */
const TOLERANCE_PX = 1e-6

/**
 * Puts an area in the middle of the image; its corners may lie between parcels. Where parcels are whole pixels, so is the
 * result: rounded down, which is half a pixel to the north-west of the middle.
 */
export function centredOn({ minX, minY, maxX, maxY }: Area, { widthPx, heightPx, sizePx }: Frame): Origin {
  const place = (px: number) => (Number.isInteger(sizePx) || sizePx < 1 ? Math.floor(px + TOLERANCE_PX) : px)
  return {
    originXPx: place((widthPx - (maxX - minX + 1) * sizePx) / 2 - minX * sizePx),
    originYPx: place((heightPx - (maxY - minY + 1) * sizePx) / 2 + maxY * sizePx),
  }
}

/**
 * Makes parcels smaller until an area fits into the image: pixel by pixel, below one pixel by halves. Never makes them
 * larger.
 */
export function fittedTo({ minX, minY, maxX, maxY }: Area, frame: Frame): Frame {
  const columns = maxX - minX + 1
  const rows = maxY - minY + 1
  const fits = (sizePx: number) => columns * sizePx <= frame.widthPx && rows * sizePx <= frame.heightPx
  if (fits(frame.sizePx)) return frame
  let sizePx = Math.min(Math.floor(frame.widthPx / columns), Math.floor(frame.heightPx / rows))
  // Parcels that share a pixel with others outside of the area take up to a pixel more at each end.
  const needed = Math.max(columns / (frame.widthPx - 2), rows / (frame.heightPx - 2))
  if (sizePx < 1) sizePx = 1 / 2 ** Math.ceil(Math.log2(needed))
  return { ...frame, sizePx }
}

/** Puts all of the world beyond the eastern edge of the image, so that it shows only the ground outside. */
export function outsideOf({ minX }: Area, { widthPx, sizePx }: Frame): Origin {
  return { originXPx: widthPx + (1 - minX) * sizePx, originYPx: 0 }
}

/** The smallest area that contains all coordinates of a list, which must not be empty. */
export function areaAround(places: readonly Coord[]): Area {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y } of places) {
    minX = Math.min(minX, x)
    minY = Math.min(minY, y)
    maxX = Math.max(maxX, x)
    maxY = Math.max(maxY, y)
  }
  return { minX, minY, maxX, maxY }
}
