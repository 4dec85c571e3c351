import { TILE_PX, type TileAddress, tileCorner, tileSide } from '@landpass/client/grid'
import type { Theme, View } from './view.ts'

/** An image tile: which one, and how to draw it. */
export interface ImageTile {
  readonly tile: TileAddress
  /**
   * Half the side of the square that all tiles of a zoom cover, in parcels: see `mercator.ts` of the client package.
   */
  readonly half: number
  /** 2 draws the same land with twice as many pixels on each side. */
  readonly scale: 1 | 2
  readonly theme: Theme
}

/** The view that an image tile shows. */
export function tileView({ tile, half, scale, theme }: ImageTile): View {
  const sidePx = TILE_PX * scale
  const sizePx = sidePx / tileSide(tile.z, half)
  const [west, north] = tileCorner(tile, half)
  // The north-west corner of parcel 0,0 is the point 0,1. `0 -` gives 0 instead of -0 where west is 0.
  const origin = { originXPx: 0 - west * sizePx, originYPx: (north - 1) * sizePx }
  return { widthPx: sidePx, heightPx: sidePx, sizePx, ...origin, selected: [], theme }
}
