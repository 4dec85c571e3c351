import { coordText } from '@landpass/client/grid'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import { countParcels } from '../../map/frame.ts'
import { landDigest } from '../../map/land-digest.ts'
import type { MapState } from '../../map/map-state.ts'
import { renderMap } from '../../map/render.ts'
import { MIN_SIZE_WITH_GAPS_PX, type View } from '../../map/view.ts'
import type { PictureRequest, ShownLand, ShownOffers } from './pictures.ts'

/** The picture that shows a view of the land. @param shown the offers whose land is highlighted */
export function mapPicture(view: View, shown: ShownOffers): PictureRequest {
  const { showsOffers, showsRentals } = shown
  const cacheKey = cacheKeyOf(view, shown)
  return {
    ...{ showsOffers, showsRentals },
    cacheKey,
    bytes: cacheKey.length + view.selected.length * COORD_BYTES,
    digest: (land) => landDigest(mapStateOf(land), view),
    cost: () => drawingCost(view),
    draw: (land) => renderMap(mapStateOf(land), view),
  }
}

function mapStateOf({ state: { parts }, offers }: ShownLand): MapState {
  return { bounds: parts.bounds, cells: parts.cells, rowAt: parts.parcels.rowAt, offers }
}

/** Memory of a place in a list. */
const COORD_BYTES = 64

/** What is drawn for one unit. */
const PIXELS_PER_UNIT = 250_000
/** Where parcels are no squares of several whole pixels, each pixel is drawn and compressed for itself. */
const SINGLE_PIXELS_PER_UNIT = 60_000
const PARCELS_PER_UNIT = 4_000
const SELECTED_PER_UNIT = 100

/** Estimated cost of drawing a view, in units of one parcel read. */
export function drawingCost(view: View): number {
  const { widthPx, heightPx, sizePx, selected } = view
  const hasGaps = sizePx >= MIN_SIZE_WITH_GAPS_PX
  const perUnit = hasGaps && Number.isInteger(sizePx) ? PIXELS_PER_UNIT : SINGLE_PIXELS_PER_UNIT
  const pixels = (widthPx * heightPx) / perUnit
  const parcels = hasGaps ? countParcels(view) / PARCELS_PER_UNIT : 0
  return SMALL_ANSWER_UNITS + pixels + parcels + selected.length / SELECTED_PER_UNIT
}

/** Equal for two views exactly when they are the same picture. */
export function cacheKeyOf(view: View, { showsOffers, showsRentals }: ShownOffers): string {
  const { widthPx, heightPx, sizePx, originXPx, originYPx, theme, selected } = view
  const frame = `${widthPx}x${heightPx}:${sizePx}:${originXPx},${originYPx}`
  const offers = `${showsOffers ? 'offers' : ''}:${showsRentals ? 'rentals' : ''}`
  return `${frame}:${theme}:${offers}:${selected.map(coordText).join(';')}`
}
