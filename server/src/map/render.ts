import { encodeBands, encodePixels } from '../image/palette-png.ts'
import type { MapState } from './map-state.ts'
import { mosaicOf } from './mosaic.ts'
import { overviewOf } from './overview.ts'
import type { View } from './view.ts'

/** Draws a map image and encodes it as a PNG file. */
export function renderMap(state: MapState, view: View): Buffer {
  if (view.sizePx >= MIN_SIZE_WITH_GAPS_PX) return encodeBands(mosaicOf(state, view))
  return encodePixels(overviewOf(state, view))
}

/** Smaller parcels are drawn without gaps, which would cover more of the image than the parcels. */
const MIN_SIZE_WITH_GAPS_PX = 5
