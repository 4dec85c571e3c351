import { parse } from 'node:querystring'
import type { Area, Coord } from '@landpass/client/grid'
import Type, { type Static } from 'typebox'
import { invalidParameter, parameterReader } from '../../http/validation.ts'
import { ASSET_TYPES, type AssetName, type AssetType } from '../../land/records/assets.ts'
import { oneOf } from '../../schema-parts.ts'
import {
  addressQuery,
  assetQuery,
  manaRange,
  placeQuery,
  type Range,
  readAssetOf,
  readManaRange,
  readPlaces,
  readTimeOf,
  readWholeRange,
  strictQuery,
  timeQuery,
  wholeRange,
  wordsOf,
  wordsQuery,
} from '../common/land-filters.ts'
import { DEFAULT_ORDERS, SORTS, type Sort, type SortOrder } from './land-sorts.ts'

/** The parameters of `/v2/land` (docs/find-land.md), as text and as what they mean. */

const STATUSES = ['open', 'for_rent', 'rented', 'sold', 'never_sold', 'none'] as const
type Status = (typeof STATUSES)[number]
const CURRENCIES = ['mana', 'usd'] as const
export type Currency = (typeof CURRENCIES)[number]
const SOURCES = ['order', 'trade', 'auction'] as const
export type Source = (typeof SOURCES)[number]
export const FACETS = [
  'price',
  'price_per_parcel',
  'size',
  'plaza',
  'road',
  'district',
  'asset_type',
] as const
export type FacetName = (typeof FACETS)[number]

const MAX_TEXT = 100
const TEXT_ALLOWED = `text of 1 to ${MAX_TEXT} characters`

/** What is kept. */
export const keptQuery = {
  asset_type: wordsQuery(ASSET_TYPES, { title: 'AssetTypes', description: 'Both if left out.' }),
  inside_estates: Type.Optional(
    Type.Boolean({
      title: 'InsideEstates',
      description: 'Whether parcels of estates are rows of their own, beside their estates.',
    }),
  ),
  status: wordsQuery(STATUSES, {
    title: 'LandStatus',
    description:
      'open: an offer to buy it now. for_rent: an open rental offer. rented: now. sold: ever. never_sold. none: no open offer.',
  }),
  ...manaRange('price', 'price of its cheapest open offer, in MANA'),
  ...manaRange(
    'price_per_parcel',
    'price of that offer for each parcel, in MANA, rounded down to 18 decimals',
  ),
  currency: wordsQuery(CURRENCIES, { title: 'OfferCurrency', description: 'The currency of that offer.' }),
  source: wordsQuery(SOURCES, { title: 'OfferSource', description: 'Where that offer was made.' }),
  ...manaRange('rent', 'rent for a day, of the cheapest period of its rental offer, in MANA'),
  ...wholeRange('size', 'number of parcels'),
  ...wholeRange('width', 'width of the bounding box, in parcels'),
  ...wholeRange('height', 'height of the bounding box, in parcels'),
  ...wholeRange('plaza', 'distance of the nearest plaza, in parcels'),
  ...wholeRange('road', 'distance of the nearest road, in parcels'),
  ...placeQuery,
  neighbours_of: assetQuery('NeighboursOf', 'Shares an edge with this asset, and is not part of it.'),
  owner: addressQuery(
    'LandOwner',
    'The owner of rented land is the lessor; the owner of a parcel in an estate is that of the estate.',
  ),
  lessor: addressQuery('LandLessor', 'Owner of land that is rented now.'),
  tenant: addressQuery('LandTenant', 'Who rents it now.'),
  may_update: addressQuery('LandMayUpdate', 'Who may change what is built there.'),
  listed_since: timeQuery('ListedSince', 'Its newest open offer, to buy or to rent, was made then or later.'),
  sold_since: timeQuery('SoldSince', 'It was sold last then or later.'),
  ends_before: timeQuery('EndsBefore', 'Its cheapest open offer ends before.'),
  q: Type.Optional(
    Type.String({
      title: 'LandText',
      'x-allowed': TEXT_ALLOWED,
      description:
        'Each of these words is in its name or description. Letter case, accents and punctuation around words do not count.',
    }),
  ),
}

/** What is kept, and in which order. */
export const filterQuery = {
  ...keptQuery,
  sort_by: Type.Optional(
    oneOf(SORTS, {
      title: 'LandSort',
      description:
        'listed_at if left out: when the newest offer, to buy or to rent, was made. Rows without the value come last in both orders.',
    }),
  ),
  sort_order: Type.Optional(
    oneOf(['asc', 'desc'], {
      title: 'LandSortOrder',
      description: 'If left out: desc for listed_at and sold_at, asc for the others.',
    }),
  ),
}
const filterQueryObject = Type.Object(filterQuery)
export type FilterQuery = Static<typeof filterQueryObject>

/** What rows have besides. */
export const includeQuery = {
  include: wordsQuery(['parcels'], { title: 'LandInclude', description: 'parcels: those of each row.' }),
}

/** What a query asks for. What is undefined keeps everything. */
export interface LandQuery {
  readonly assetTypes: readonly AssetType[] | undefined
  readonly withParcelsOfEstates: boolean
  readonly statuses: readonly Status[] | undefined
  /** In wei. */
  readonly price: Range<bigint> | undefined
  readonly pricePerParcel: Range<bigint> | undefined
  readonly currencies: readonly Currency[] | undefined
  readonly sources: readonly Source[] | undefined
  readonly rent: Range<bigint> | undefined
  readonly size: Range<number> | undefined
  readonly width: Range<number> | undefined
  readonly height: Range<number> | undefined
  readonly plaza: Range<number> | undefined
  readonly road: Range<number> | undefined
  readonly area: Area | undefined
  readonly center: Coord | undefined
  readonly radius: number | undefined
  readonly districts: readonly string[] | undefined
  readonly neighboursOf: AssetName | undefined
  readonly owner: string | undefined
  readonly lessor: string | undefined
  readonly tenant: string | undefined
  readonly mayUpdate: string | undefined
  readonly listedSinceMs: number | undefined
  readonly soldSinceMs: number | undefined
  readonly endsBeforeMs: number | undefined
  readonly text: string | undefined
  readonly sortBy: Sort
  readonly sortOrder: SortOrder
}

/** @throws {AppError} `invalid_parameter` also for what contradicts itself */
export function readLandQuery(query: FilterQuery): LandQuery {
  const places = readPlaces(query)
  const sortBy = (query.sort_by as Sort | undefined) ?? 'listed_at'
  if (sortBy === 'distance' && !places.center)
    throw invalidParameter('center', undefined, 'given, as sort_by=distance is the distance from it')
  if (places.center && places.radius === undefined && sortBy !== 'distance')
    throw invalidParameter('radius', undefined, 'given beside center, except with sort_by=distance')
  const soldSinceMs = readTimeOf('sold_since', query.sold_since)
  if (soldSinceMs !== undefined && query.status === 'never_sold')
    throw invalidParameter('sold_since', query.sold_since, 'left out beside status=never_sold')
  return {
    assetTypes: wordsOf(query.asset_type),
    withParcelsOfEstates: query.inside_estates === true,
    statuses: wordsOf(query.status),
    price: readManaRange(query, 'price'),
    pricePerParcel: readManaRange(query, 'price_per_parcel'),
    currencies: wordsOf(query.currency),
    sources: wordsOf(query.source),
    rent: readManaRange(query, 'rent'),
    size: readWholeRange(query, 'size'),
    width: readWholeRange(query, 'width'),
    height: readWholeRange(query, 'height'),
    plaza: readWholeRange(query, 'plaza'),
    road: readWholeRange(query, 'road'),
    ...places,
    neighboursOf: readAssetOf('neighbours_of', query.neighbours_of),
    owner: query.owner?.toLowerCase(),
    lessor: query.lessor?.toLowerCase(),
    tenant: query.tenant?.toLowerCase(),
    mayUpdate: query.may_update?.toLowerCase(),
    listedSinceMs: readTimeOf('listed_since', query.listed_since),
    soldSinceMs,
    endsBeforeMs: readTimeOf('ends_before', query.ends_before),
    text: query.q === undefined ? undefined : readText(query.q),
    sortBy,
    sortOrder: (query.sort_order as SortOrder | undefined) ?? DEFAULT_ORDERS[sortBy],
  }
}

const readFilters = parameterReader({
  schema: strictQuery(filterQuery),
  method: 'GET',
  url: '/v2/land',
  httpPart: 'querystring',
}) as (given: unknown) => { readonly value: FilterQuery }

/**
 * Reads a search as it stands in an address of `/v2/land`.
 *
 * @throws {AppError} `invalid_parameter` for a parameter that `/v2/land` does not have, or that contradicts another one
 * @example
 * readLandText('status=open&max_plaza=3').plaza // { min: undefined, max: 3 }
 */
export function readLandText(text: string): LandQuery {
  return readLandQuery(readFilters(parse(text)).value)
}

function readText(q: string): string {
  const text = q.trim()
  // A code point has at most two UTF-16 units: longer text is refused without counting code points.
  if (text !== '' && text.length <= 2 * MAX_TEXT && [...text].length <= MAX_TEXT) return text
  throw invalidParameter('q', q, TEXT_ALLOWED)
}
