import type { Coord } from '@landpass/client/grid'

/** The two sets of colours; `dark` is the default. */
export type Theme = 'dark' | 'light'

/** What a map image shows: its size, where the parcels lie in it, and which of them are selected. */
export interface View {
  readonly widthPx: number
  readonly heightPx: number
  /** Side of a parcel in pixels: a whole number, or 1/2, 1/4, … where several parcels share a pixel. */
  readonly sizePx: number
  /**
   * The north-west corner of parcel 0,0, in pixels from the image's north-west corner: whole numbers, which may lie
   * outside of the image. Where several parcels share a pixel, `originYPx` may be any multiple of `sizePx`; it decides
   * which parcels share one. Parcel x,y covers `originXPx + x * sizePx` up to, not including, `… + sizePx`, and
   * `originYPx - y * sizePx` up to, not including, `… + sizePx`.
   */
  readonly originXPx: number
  readonly originYPx: number
  /** Coordinates that are drawn as selected. May contain duplicates, and coordinates outside of the world's bounds. */
  readonly selected: readonly Coord[]
  readonly theme: Theme
}
