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

/**
 * Puts an area in the middle of the image. Where the middle is no whole pixel: half a pixel to the north-west of it.
 */
export function centredOn({ minX, minY, maxX, maxY }: Area, { widthPx, heightPx, sizePx }: Frame): Origin {
  const westPx = Math.floor((widthPx - (maxX - minX + 1) * sizePx) / 2)
  const northPx = Math.floor((heightPx - (maxY - minY + 1) * sizePx) / 2)
  return { originXPx: westPx - minX * sizePx, originYPx: northPx + maxY * sizePx }
}

/** Makes parcels smaller, down to one pixel, until an area fits into the image. Never makes them larger. */
export function fittedTo({ minX, minY, maxX, maxY }: Area, frame: Frame): Frame {
  const widest = Math.floor(frame.widthPx / (maxX - minX + 1))
  const highest = Math.floor(frame.heightPx / (maxY - minY + 1))
  return { ...frame, sizePx: Math.max(1, Math.min(frame.sizePx, widest, highest)) }
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
