import type { Coord } from '@landpass/client/grid'

/** The two sets of colours: `dark` is the usual one. */
export type Theme = 'dark' | 'light'

/** What a picture shows: how large it is, where the parcels lie in it, and which of them stand out. */
export interface View {
  readonly widthPx: number
  readonly heightPx: number
  /** Side of a parcel: a whole number of pixels from 1 up, or 1/2, 1/4, … where several parcels share a pixel. */
  readonly sizePx: number
  /**
   * Where the north-west corner of parcel 0,0 lies, in pixels from the image's north-west corner: whole numbers, which
   * may lie outside of the image. Where several parcels share a pixel, `originYPx` may be a fraction: any multiple of
   * `sizePx`, and so which parcels share one is the caller's choice. Parcel x,y covers `originXPx + x * sizePx` up to, not including, `… + sizePx`, and
   * `originYPx - y * sizePx` up to `… + sizePx`.
   */
  readonly originXPx: number
  readonly originYPx: number
  /** Places to stand out, each named once or more often; they may lie outside of the world's bounds. */
  readonly selected: readonly Coord[]
  readonly theme: Theme
}
