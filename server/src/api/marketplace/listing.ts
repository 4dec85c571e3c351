import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { type Answer, DATA } from '../../http/answer.ts'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import { send } from '../../http/send.ts'
import { publicationTexts } from '../../land/queries/publication-queries.ts'
import type { AssetType } from '../../land/records/assets.ts'
import type { JsonPieces } from '../../land/records/json.ts'
import { type ListingStatus, STATUSES } from '../../land/records/statuses.ts'
import { nextCursor, oneOf } from '../../schema-parts.ts'
import { SORT_COLUMNS, type SortColumn, type SortOrder } from '../../state/parts/parts.ts'
import type { AssetRow, State } from '../../state/state.ts'
import { arrayPieces } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { parseStatuses, statusQuery } from '../common/parameters.ts'
import { cursorText, placeCursorQuery, readCursor } from './place-cursor.ts'

/**
 * The lists of publications with their assets: `/parcels`, `/estates` and `/marketplace`. The rows and their order come
 * from memory; only publications that are no longer open are read from the database, by key.
 */

const MAX_LIMIT = 1000
/** Rows of a page whose assets and publications are found, joined and compressed for one unit. */
const ROWS_PER_UNIT = 25

export const listingQuery = {
  status: statusQuery(STATUSES, {
    title: 'ListingStatus',
    default: 'open',
    description:
      'Only publications with this status, or several, separated by commas. open also means not expired.',
  }),
  sort_by: oneOf(SORT_COLUMNS, {
    title: 'SortBy',
    default: 'created_at',
    description: 'What the rows are ordered by.',
  }),
  sort_order: Type.Optional(
    oneOf(['asc', 'desc'], {
      title: 'SortOrder',
      description: 'If left out: asc for price and expires_at, desc for the others.',
    }),
  ),
  limit: Type.Integer({
    title: 'Limit',
    minimum: 0,
    maximum: MAX_LIMIT,
    default: 20,
    description: 'Rows on a page.',
  }),
  offset: Type.Integer({
    title: 'Offset',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'Rows skipped. With cursor no row is missed where others come or go.',
  }),
  cursor: placeCursorQuery,
}
const listingQueryObject = Type.Object(listingQuery)
export type ListingQuery = Static<typeof listingQueryObject>

/** The fields of a page besides its rows. */
export const pageSchema = {
  total: Type.Integer({ description: 'Rows of all pages.' }),
  limit: Type.Integer(),
  offset: Type.Integer({ description: 'Rows before this page.' }),
  cursor: nextCursor(),
}

const DEFAULT_ORDER: Record<SortColumn, SortOrder> = {
  price: 'asc',
  created_at: 'desc',
  block_time_updated_at: 'desc',
  expires_at: 'asc',
}

export interface Listing {
  readonly land: LandContext
  /** The name of the rows in the answer. */
  readonly name: 'parcels' | 'estates' | 'assets'
  /** Undefined: both types. */
  readonly assetType: AssetType | undefined
}

export function answerListing(
  request: FastifyRequest,
  reply: FastifyReply,
  listing: Listing,
  query: ListingQuery,
) {
  return send(request, reply, () => listingAnswer(listing, query))
}

function listingAnswer({ land, name, assetType }: Listing, query: ListingQuery): Answer {
  const moment = land.moment()
  const { state, nowMs } = moment
  const sortBy = query.sort_by as SortColumn
  const sortOrder = (query.sort_order as SortOrder | undefined) ?? DEFAULT_ORDER[sortBy]
  const statuses = parseStatuses<ListingStatus>(String(query.status)) ?? STATUSES
  const order = { sortBy, sortOrder }
  const { limit } = query
  const behind = readCursor(query, order)
  const find = () => state.lists.find({ assetType, statuses, ...order }, nowMs)
  const { rows: found, lastExpiryMs } = find()
  const offset = behind ? state.lists.indexBehind(found, behind, order) : query.offset
  const pageRows = Math.max(0, Math.min(limit, found.length - offset))
  const cost = SMALL_ANSWER_UNITS + pageRows / ROWS_PER_UNIT
  const body = () => {
    const { rows } = find() // anew: the answer may be held longer than the list
    const page = rows.subarray(offset, offset + limit)
    const last = offset + limit < rows.length ? page.at(-1) : undefined
    const cursor = last === undefined ? null : cursorText(order, state.lists.placeOf(last, sortBy))
    const around = (assets: JsonPieces): JsonPieces => [
      Buffer.from(`{"${name}":`),
      ...assets,
      Buffer.from(
        `,"total":${rows.length},"limit":${limit},"offset":${offset},"cursor":${JSON.stringify(cursor)}}`,
      ),
    ]
    const closedKeys = keysOfClosed(state, page)
    if (closedKeys.length === 0) return around(pagePieces(state, page, nowMs, new Map()))
    return readByKey(land, state, closedKeys).then((closed) => around(pagePieces(state, page, nowMs, closed)))
  }
  const freshness = state.freshness(Math.max(lastExpiryMs, state.rentExpiry(nowMs)))
  return { freshness, format: DATA, cost, body, moment }
}

function keysOfClosed(state: State, page: Uint32Array): number[] {
  const { open, key } = state.parts.publications
  const keys: number[] = []
  for (const row of page) if (open[row]! < 0) keys.push(key[row]!)
  return keys
}

async function readByKey(
  land: LandContext,
  state: State,
  keys: readonly number[],
): Promise<Map<number, Buffer>> {
  const texts = await publicationTexts(land.db, state.worldId, keys)
  return new Map(texts.map(({ key, json }) => [key, Buffer.from(json)]))
}

function pagePieces(
  state: State,
  page: Uint32Array,
  nowMs: number,
  closed: ReadonlyMap<number, Uint8Array>,
): JsonPieces {
  const { open, key, asset, assetType } = state.parts.publications
  const rows: JsonPieces[] = []
  for (const row of page) {
    const publication = open[row]! >= 0 ? state.offerJson(open[row]!) : closed.get(key[row]!)
    const named: AssetRow = { type: assetType[row] === 0 ? 'parcel' : 'estate', row: asset[row]! }
    if (publication) rows.push(state.assetPieces(named, nowMs, publication))
  }
  return arrayPieces(rows)
}
