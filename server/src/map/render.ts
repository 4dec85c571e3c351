import { encodeBands, encodePixels } from '../image/palette-png.ts'
import type { MapSnapshot } from './map-snapshot.ts'
import { mosaicOf } from './mosaic.ts'
import { overviewOf } from './overview.ts'
import type { View } from './view.ts'

/** Draws a view of the land: a whole PNG file. */
export function renderMap(snapshot: MapSnapshot, view: View): Buffer {
  if (view.sizePx >= LEAST_WITH_GAPS_PX) return encodeBands(mosaicOf(snapshot, view))
  return encodePixels(overviewOf(snapshot, view))
}

/** Gaps between smaller parcels would take more of the picture than the parcels. */
const LEAST_WITH_GAPS_PX = 5
