import { type Coord, parseCoord } from '@landpass/client/grid'
import type { DatedFreshness } from '../../freshness.ts'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import { findDistrict } from '../../land/records/district.ts'
import type { State } from '../../state/state.ts'
import type { LandContext } from '../common/land-context.ts'
import { numberOfEstate, numberOfParcel } from './asset-numbers.ts'
import { findAssets, findCost } from './land-find.ts'
import { type LandQuery, readLandText } from './land-query.ts'
import { type LandRow, landRow } from './land-rows.ts'
import { landOrder } from './land-sorts.ts'
import { type LandView, landViewOf, lastEndOf } from './land-view.ts'

/** What a link to the map page shows: of several, the first in this order. */
export interface LandLink {
  /** `x,y` */
  readonly parcel?: string | undefined
  readonly estate?: string | undefined
  readonly district?: string | undefined
  /** Filters of `/v2/land`, as in its address. */
  readonly filters?: string | undefined
}

/** What is known of that, for a title and a text. */
export type LandSummary =
  | { readonly kind: 'asset'; readonly row: LandRow; readonly district: string | undefined }
  | {
      readonly kind: 'district'
      readonly id: string
      readonly name: string
      readonly parcelCount: number
      readonly center: Coord | undefined
    }
  | {
      readonly kind: 'search'
      readonly total: number
      readonly first: readonly LandRow[]
      /** The middle of the area that is searched; undefined where that is the world. */
      readonly center: Coord | undefined
    }

export interface LandSummaryReading {
  readonly freshness: DatedFreshness
  /** In units of one parcel read. */
  readonly cost: number
  read(): LandSummary | Promise<LandSummary>
}

/** Rows of a search that its summary names. */
const NAMED_ROWS = 3

/**
 * Finds what a link shows.
 *
 * @returns undefined for a link to nothing, to land that does not exist, and with filters that `/v2/land` refuses
 * @throws {AppError} `world_not_loaded`
 */
export function landSummaryOf(land: LandContext, link: LandLink): LandSummaryReading | undefined {
  const state = land.state()
  const view = landViewOf(state, land.registries, land.clock.nowMs())
  const freshness = state.freshness(lastEndOf(view))
  const small = (summary: LandSummary | undefined) =>
    summary && { freshness, cost: SMALL_ANSWER_UNITS, read: () => summary }
  if (link.parcel !== undefined || link.estate !== undefined) return small(assetSummary(state, view, link))
  if (link.district !== undefined) return small(districtSummary(state, link.district))
  const query = readFilters(link.filters ?? '')
  if (!query) return undefined
  const read = async (): Promise<LandSummary> => {
    const found = await findAssets(state, view, query)
    const first = Array.from(landOrder(view, query).first(found, NAMED_ROWS).assets, (asset) =>
      landRow(view, asset),
    )
    return { kind: 'search', total: found.count(), first, center: middleOf(query) }
  }
  return { freshness, cost: findCost(view), read }
}

function assetSummary(
  { parts }: State,
  view: LandView,
  { parcel, estate }: LandLink,
): LandSummary | undefined {
  const place = parcel === undefined ? undefined : parseCoord(parcel)
  const asset = place ? numberOfParcel(view, place) : numberOfEstate(view, estate ?? '')
  if (asset < 0) return undefined
  const row = landRow(view, asset)
  const district = row.district_id === null ? -1 : parts.districts.ids.indexOf(row.district_id)
  return { kind: 'asset', row, district: parts.districts.names[district] }
}

function districtSummary({ parts }: State, id: string): LandSummary | undefined {
  const found = findDistrict(Buffer.from(parts.districts.listJson).toString(), id)
  if (!found) return undefined
  const { name, parcel_count, center } = found
  return { kind: 'district', id, name, parcelCount: Number(parcel_count), center: parseCoord(center ?? '') }
}

/** @returns undefined for filters that are refused, and where there are none */
function readFilters(text: string): LandQuery | undefined {
  if (text === '') return undefined
  try {
    return readLandText(text)
  } catch {
    return undefined // the page leaves out what it cannot read
  }
}

function middleOf({ area }: LandQuery): Coord | undefined {
  return area && { x: Math.round((area.minX + area.maxX) / 2), y: Math.round((area.minY + area.maxY) / 2) }
}
