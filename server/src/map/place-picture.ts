import type { Area, Coord } from '@landpass/client/grid'
import { areaAround, centredOn, fittedTo } from './frame.ts'
import type { MapState } from './map-state.ts'
import { renderMap } from './render.ts'

const SIDE_PX = 512
/** The side of a parcel, where the places are few. */
const PARCEL_PX = 32
/** Parcels that are shown around the places at least. */
const MARGIN = 3

/** A square picture of places on the map, which are selected: a PNG file of 512 x 512 pixels. */
export function drawPlaces(state: MapState, places: readonly Coord[]): Buffer {
  const area = areaAround(places)
  const frame = fittedTo(withMargin(area), { widthPx: SIDE_PX, heightPx: SIDE_PX, sizePx: PARCEL_PX })
  return renderMap(state, { ...frame, ...centredOn(area, frame), selected: places, theme: 'light' })
}

function withMargin({ minX, minY, maxX, maxY }: Area): Area {
  return { minX: minX - MARGIN, minY: minY - MARGIN, maxX: maxX + MARGIN, maxY: maxY + MARGIN }
}
