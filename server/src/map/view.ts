import type { Coord } from '@landpass/client/grid'

/** The two sets of colours; `dark` is the default. */
export type Theme = 'dark' | 'light'

/** What a map image shows: its size, where the parcels lie in it, and which of them are selected. */
export interface View {
  readonly widthPx: number
  readonly heightPx: number
  /**
   * Side of a parcel in pixels: a whole number, 1/2, 1/4, … where several parcels share a pixel, or a fraction above
   * {@link MIN_SIZE_WITH_GAPS_PX}.
   */
  readonly sizePx: number
  /**
   * The north-west corner of parcel 0,0, in pixels from the image's north-west corner, which may lie outside of the
   * image. Parcel x,y covers `originXPx + x * sizePx` up to, not including, `… + sizePx`, and `originYPx - y * sizePx`
   * up to, not including, `… + sizePx`. Where parcels are whole pixels, so are the origins. Where several parcels share a
   * pixel, `originXPx` is whole, and `originYPx` may be any multiple of `sizePx`; it decides which parcels share one.
   * Where `sizePx` is a fraction, each edge of a parcel is rounded to the nearest pixel: {@link edgePx}.
   */
  readonly originXPx: number
  readonly originYPx: number
  /** Coordinates that are drawn as selected. May contain duplicates, and coordinates outside of the world's bounds. */
  readonly selected: readonly Coord[]
  readonly theme: Theme
}

/** Smaller parcels are drawn without gaps, which would cover more of the image than the parcels. */
export const MIN_SIZE_WITH_GAPS_PX = 5

/**
 * The pixel where column `n` begins, counted from parcel 0,0; or row `n` from the north, with the other origin.
 *
 * @example
 * edgePx(0, 1, 25.6) // 26
 */
export function edgePx(originPx: number, n: number, sizePx: number): number {
  return Math.floor(originPx + n * sizePx + 0.5)
}
