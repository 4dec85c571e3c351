import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { AssetType, ListingStatus } from '../../db/schema.ts'
import { answer, type JsonPieces } from '../../http/answers.ts'
import { oneOf } from '../../http/schemas.ts'
import type { AssetRow } from '../assets.ts'
import { arrayPieces } from '../land-answers.ts'
import type { LandContext } from '../land-context.ts'
import { parseStatuses, STATUSES, statusQuery } from '../parameters.ts'
import { SORT_COLUMNS, type SortColumn, type SortOrder } from '../present/parts.ts'
import type { Present } from '../present/present.ts'
import { publicationJson } from '../publications/publication-json.ts'
import { publicationsByKey } from '../publications/publication-queries.ts'

/**
 * The lists of what is, or was, for sale: `/parcels`, `/estates` and `/marketplace` are one query over
 * publications, each row joined with its asset. Which rows and in which order is known in memory; only the
 * publications that are no longer open are read from the database, by key.
 */

export const MAX_LIMIT = 1000

export const listingQuery = {
  status: statusQuery(STATUSES, {
    default: 'open',
    description: 'Publications with this status; open also means not expired. Several: separated by commas.',
  }),
  sort_by: oneOf(SORT_COLUMNS, { default: 'created_at', description: 'What the rows are ordered by.' }),
  sort_order: Type.Optional(
    oneOf(['asc', 'desc'], {
      description: 'If left out: asc for price and expires_at, desc for the others.',
    }),
  ),
  limit: Type.Integer({ minimum: 0, maximum: MAX_LIMIT, default: 20, description: 'Rows on a page.' }),
  offset: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'Rows skipped.',
  }),
}
const listingQueryObject = Type.Object(listingQuery)
export type ListingQuery = Static<typeof listingQueryObject>

/** What stands around the rows on every page. */
export const pageSchema = {
  total: Type.Integer({ description: 'Rows of all pages.' }),
  limit: Type.Integer(),
  offset: Type.Integer(),
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
  /** Undefined: both. */
  readonly assetType: AssetType | undefined
}

export function answerListing(
  request: FastifyRequest,
  reply: FastifyReply,
  listing: Listing,
  query: ListingQuery,
) {
  const { land, name, assetType } = listing
  const present = land.present()
  const nowMs = land.clock.nowMs()
  const sortBy = query.sort_by as SortColumn
  const sortOrder = (query.sort_order as SortOrder | undefined) ?? DEFAULT_ORDER[sortBy]
  const statuses = parseStatuses<ListingStatus>(String(query.status)) ?? STATUSES
  const { rows, lastExpiryMs } = present.lists.find({ assetType, statuses, sortBy, sortOrder }, nowMs)
  return answer(request, reply, present.freshness(lastExpiryMs), () => {
    const page = rows.subarray(query.offset, query.offset + query.limit)
    const around = (assets: JsonPieces): JsonPieces => [
      Buffer.from(`{"${name}":`),
      ...assets,
      Buffer.from(`,"total":${rows.length},"limit":${query.limit},"offset":${query.offset}}`),
    ]
    const closedKeys = keysOfClosed(present, page)
    if (closedKeys.length === 0) return around(pagePieces(present, page, nowMs, new Map()))
    return readByKey(land, present, closedKeys).then((closed) =>
      around(pagePieces(present, page, nowMs, closed)),
    )
  })
}

function keysOfClosed(present: Present, page: Uint32Array): number[] {
  const { open, key } = present.parts.publications
  const keys: number[] = []
  for (const row of page) if (open[row]! < 0) keys.push(key[row]!)
  return keys
}

async function readByKey(
  land: LandContext,
  present: Present,
  keys: readonly number[],
): Promise<Map<number, Buffer>> {
  const publications = await publicationsByKey(land.db, present.worldId, keys)
  return new Map(publications.map((row) => [row.key, Buffer.from(publicationJson(row))]))
}

function pagePieces(
  present: Present,
  page: Uint32Array,
  nowMs: number,
  closed: ReadonlyMap<number, Uint8Array>,
): JsonPieces {
  const { open, key, asset, assetType } = present.parts.publications
  const rows: JsonPieces[] = []
  for (const row of page) {
    const publication = open[row]! >= 0 ? present.offerJson(open[row]!) : closed.get(key[row]!)
    const named: AssetRow = { type: assetType[row] === 0 ? 'parcel' : 'estate', row: asset[row]! }
    if (publication) rows.push(present.assetPieces(named, nowMs, publication))
  }
  return arrayPieces(rows)
}
