import { encodeBands, encodePixels } from '../image/palette-png.ts'
import type { Area } from '../world/world.ts'
import { mosaicOf } from './mosaic.ts'
import { overviewOf } from './overview.ts'
import type { View } from './view.ts'

/** What a picture is made of: parts of a `Present`, none of which ever changes. */
export interface MapSnapshot {
  readonly bounds: Area
  /** Row of the parcel in each cell of the bounds, or -1. */
  readonly rowAt: Int32Array
  /** Kind and joins of each cell: see `land/present/tile-cells.ts`. */
  readonly cells: Uint8Array
  /** Per parcel row the offer that is shown for it, or -1. Undefined: what is on sale does not stand out. */
  readonly offers: Int32Array | undefined
}

/** Draws a view of the land: a whole PNG file. */
export function renderMap(snapshot: MapSnapshot, view: View): Buffer {
  if (view.sizePx >= LEAST_WITH_GAPS_PX) return encodeBands(mosaicOf(snapshot, view))
  return encodePixels(overviewOf(snapshot, view))
}

/** Gaps between smaller parcels would take more of the picture than the parcels. */
const LEAST_WITH_GAPS_PX = 5
