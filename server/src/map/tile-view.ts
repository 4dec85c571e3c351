import { TILE_PX, type TileAddress, tileCorner, tileSide } from '@landpass/client/grid'
import type { Theme, View } from './view.ts'

/** What a tile of the pyramid shows. */
export interface TileWish {
  readonly tile: TileAddress
  /** Half the side of the square that the pyramid cuts up: see `mercator.ts` of the grid. */
  readonly half: number
  /** 2 draws the same ground with twice as many pixels a side. */
  readonly scale: 1 | 2
  readonly theme: Theme
}

export function tileView({ tile, half, scale, theme }: TileWish): View {
  const sidePx = TILE_PX * scale
  const sizePx = sidePx / tileSide(tile.z, half)
  const [west, north] = tileCorner(tile, half)
  // The north-west corner of parcel 0,0 is the point 0,1. (`0 -`: no -0 for the tiles that begin there.)
  const origin = { originXPx: 0 - west * sizePx, originYPx: (north - 1) * sizePx }
  return { widthPx: sidePx, heightPx: sidePx, sizePx, ...origin, selected: [], theme }
}
