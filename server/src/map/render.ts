import { encodeBands, encodePixels } from '../image/palette-png.ts'
import type { MapState } from './map-state.ts'
import { mosaicOf, unevenMosaicOf } from './mosaic.ts'
import { overviewOf } from './overview.ts'
import { MIN_SIZE_WITH_GAPS_PX, type View } from './view.ts'

/** Draws a map image and encodes it as a PNG file. */
export function renderMap(state: MapState, view: View): Buffer {
  if (view.sizePx < MIN_SIZE_WITH_GAPS_PX) return encodePixels(overviewOf(state, view))
  if (Number.isInteger(view.sizePx)) return encodeBands(mosaicOf(state, view))
  return encodePixels(unevenMosaicOf(state, view))
}
