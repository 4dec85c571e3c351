import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, DATA, type Format, type StreamedBody, streamed } from '../../http/answer.ts'
import { QUERY_UNITS, SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import { send } from '../../http/send.ts'
import { tagOf } from '../../http/text-tag.ts'
import type { JsonPieces } from '../../land/records/json.ts'
import type { LandContext } from './land-context.ts'

export const OPEN = Buffer.from('[')
export const CLOSE = Buffer.from(']')
const COMMA = Buffer.from(',')

/** Parcels or estates whose JSON is copied, compressed and sent for one unit. */
const ASSETS_PER_UNIT = 100

/**
 * Estimated cost of an answer with this number of parcels or estates, in units of one parcel read.
 *
 * @example
 * assetsCost(441) // 5.41
 */
export function assetsCost(assetCount: number): number {
  return SMALL_ANSWER_UNITS + assetCount / ASSETS_PER_UNIT
}

/** Up to this number of assets (about 2 MB) an answer is made at once; larger ones are streamed. */
export const WHOLE_ANSWER_ASSETS = 4096

/**
 * A body with this number of assets, and its cost: made at once, or streamed if it is large.
 *
 * @param cachedAs for a large body that many clients request
 * @param atOnce the same pieces, where there is a way to make them at once that takes less time
 */
export function assetsAnswer(
  assetCount: number,
  pieces: () => JsonPieces,
  cachedAs?: StreamedBody['cachedAs'],
  atOnce = pieces,
): Pick<Answer, 'cost' | 'body'> {
  const cost = assetsCost(assetCount)
  if (assetCount <= WHOLE_ANSWER_ASSETS) return { cost, body: atOnce }
  return { body: () => streamed(pieces, cost, cachedAs) }
}

/**
 * Sends JSON that can change without a new revision of the land: its ETag is a hash of it. The caller has charged for making it.
 *
 * @param json with the state of each offer at `judgedAtMs`, which is `Last-Modified`: when a state changed before is not stored, and an
 *   earlier time could confirm a copy from before that
 */
export function sendJudged(
  request: FastifyRequest,
  reply: FastifyReply,
  { json, judgedAtMs, format = DATA }: JudgedJson,
): FastifyReply | Promise<FastifyReply> {
  const freshness = { tag: tagOf(json), changedAtMs: judgedAtMs }
  return send(request, reply, { freshness, format, body: () => json })
}

interface JudgedJson {
  readonly json: string
  readonly judgedAtMs: number
  readonly format?: Format
}

/** A JSON array of values that are made of pieces. */
export function* arrayPieces(values: Iterable<JsonPieces>): Generator<Uint8Array> {
  yield OPEN
  let isFirst = true
  for (const value of values) {
    if (!isFirst) yield COMMA
    isFirst = false
    yield* value
  }
  yield CLOSE
}

const OPEN_OBJECT = Buffer.from('{')
const CLOSE_OBJECT = Buffer.from('}')

/** A JSON object of pieces that hold members, each member followed by a comma; the last comma is left out. */
export function* objectPieces(members: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield OPEN_OBJECT
  let last: Uint8Array | undefined
  for (const piece of members) {
    if (last) yield last
    last = piece
  }
  if (last) yield last.subarray(0, -1)
  yield CLOSE_OBJECT
}

/**
 * Sends a JSON array of rows that are read from the database, in the world of the state that is shown.
 *
 * @param rows.read must not hold the request: later requests for the address call it too
 * @example
 * sendRows(request, reply, land, { read: (worldId) => bidsOfAddress(land.db, worldId, address, {}), json: bidJson })
 */
export function sendRows<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  land: LandContext,
  { read, json }: RowsOfWorld<Row>,
): FastifyReply | Promise<FastifyReply> {
  return send(request, reply, () => {
    const moment = land.moment()
    const { state } = moment
    const body = async () => `[${(await read(state.worldId)).map(json).join(',')}]`
    return { freshness: state.freshness(), format: DATA, cost: QUERY_UNITS, body, moment }
  })
}

interface RowsOfWorld<Row> {
  readonly read: (worldId: number) => Promise<readonly Row[]>
  readonly json: (row: Row) => string
}
