import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Freshness } from '../freshness.ts'
import type { CodedBody } from './coded-body.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
const ENVELOPE_START = Buffer.from('{"ok":true,"data":')
const ENVELOPE_END = Buffer.from('}')

/** A body in pieces of ready JSON, which are joined inside the envelope. */
export type JsonPieces = Iterable<Uint8Array>

/**
 * Answers `{ "ok": true, "data": … }`, or 304 where the reader's copy is still right: then `makeData` is not called.
 */
export function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  freshness: Freshness,
  makeData: () => JsonPieces | Promise<JsonPieces>,
): FastifyReply | Promise<FastifyReply> {
  variesWithCoding(reply)
  if (isStillFresh(request, reply, freshness)) return reply.code(304).send()
  reply.header('content-type', JSON_TYPE)
  const data = makeData()
  return data instanceof Promise ? data.then((pieces) => send(reply, pieces)) : send(reply, data)
}

/** Node writes short text together with the headers, in one piece; bytes would be a second one, and cost a third more. */
const TEXT_BELOW_BYTES = 8 * 1024

function send(reply: FastifyReply, data: JsonPieces): FastifyReply {
  const body = Buffer.concat([ENVELOPE_START, ...data, ENVELOPE_END])
  return reply.send(body.length < TEXT_BELOW_BYTES ? body.toString() : body)
}

/** Like {@link answer}, for what is read by programs that know no envelope: the text is the whole body. */
export function answerBare(
  request: FastifyRequest,
  reply: FastifyReply,
  freshness: Freshness,
  makeJson: () => string,
): FastifyReply {
  variesWithCoding(reply)
  if (isStillFresh(request, reply, freshness)) return reply.code(304).send()
  return reply.header('content-type', JSON_TYPE).send(makeJson())
}

/** Like {@link answer}, for data that is too large to hold: pieces are written as the reader takes them. */
export function answerStream(
  request: FastifyRequest,
  reply: FastifyReply,
  freshness: Freshness,
  makeData: () => Iterable<Uint8Array>,
): FastifyReply {
  return answerPieces(request, reply, freshness, ENVELOPE_FORMAT, () => inEnvelope(makeData()))
}

/** What a body is when it goes out as it is. */
export interface BodyFormat {
  readonly contentType: string
  /** For what is kept as a file rather than shown. */
  readonly fileName?: string
}

const ENVELOPE_FORMAT: BodyFormat = { contentType: JSON_TYPE }

/** Streams a format that has no envelope: each piece is made when the reader has taken the ones before it. */
export function answerPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  freshness: Freshness,
  format: BodyFormat,
  makePieces: () => Iterable<Uint8Array>,
): FastifyReply {
  variesWithCoding(reply)
  if (isStillFresh(request, reply, freshness)) return reply.code(304).send()
  // Whoever asks with HEAD takes no piece, so none is made.
  const pieces = request.method === 'HEAD' ? [] : inTurns(inWrites(makePieces()))
  return describeBody(reply, format).send(Readable.from(pieces, { objectMode: false }))
}

/** Answers a body that many ask for, in the coding that this reader takes. */
export async function answerCoded(
  request: FastifyRequest,
  reply: FastifyReply,
  freshness: Freshness,
  format: BodyFormat,
  findBody: () => CodedBody | Promise<CodedBody>,
): Promise<FastifyReply> {
  variesWithCoding(reply)
  if (isStillFresh(request, reply, freshness)) return reply.code(304).send()
  const body = await findBody()
  const coding = body.codingFor(request.headers['accept-encoding'])
  if (coding) reply.header('content-encoding', coding)
  return describeBody(reply, format).send(await body.in(coding))
}

function describeBody(reply: FastifyReply, { contentType, fileName }: BodyFormat): FastifyReply {
  if (fileName !== undefined) reply.header('content-disposition', `attachment; filename="${fileName}"`)
  return reply.header('content-type', contentType)
}

export function* inEnvelope(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield ENVELOPE_START
  yield* pieces
  yield ENVELOPE_END
}

/** A write to the network costs the same for ten bytes and for ten thousand: small pieces are joined first. */
const WRITE_BYTES = 64 * 1024

function* inWrites(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  for (const piece of pieces) {
    waiting.push(piece)
    bytes += piece.length
    if (bytes < WRITE_BYTES) continue
    yield waiting.length === 1 ? piece : Buffer.concat(waiting)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}

/** A reader who takes everything at once would keep all others waiting: between two writes they have their turn. */
async function* inTurns(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece
    await setImmediate()
  }
}

/** `{ "ok": true, "data": … }` around text that is JSON already. */
export function jsonPiece(json: string): JsonPieces {
  return [Buffer.from(json)]
}

/** Said of the uncompressed answer too, or a cache would take it for the only one. */
export function variesWithCoding(reply: FastifyReply): void {
  reply.header('vary', 'accept-encoding')
}

/** What an answer says of its freshness. */
export function freshnessHeaders({ tag, changedAtMs }: Freshness) {
  return {
    etag: `"${tag}"`,
    'last-modified': httpDate(changedAtMs),
    // Keep it, but ask before each use: asking costs one small answer, and no reader ever sees an old offer.
    'cache-control': 'public, no-cache',
  }
}

/** Sets the headers of freshness and tells whether the reader's copy is still right: then 304 is the answer. */
export function isStillFresh(request: FastifyRequest, reply: FastifyReply, freshness: Freshness): boolean {
  reply.headers(freshnessHeaders(freshness))
  const { tag, changedAtMs } = freshness
  if (request.headers['if-none-match'] !== undefined) return isTagKnown(request, reply, tag)
  const since = request.headers['if-modified-since']
  return since !== undefined && Math.floor(changedAtMs / 1000) * 1000 <= Date.parse(since)
}

/** Sets the header of a tag and tells whether the reader's copy has it: then 304 is the answer. */
export function isTagKnown(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  const copy = findTag(request.headers['if-none-match'] ?? '', tag)
  // A cache finds the copy that was confirmed by its tag, coding and all (RFC 9111, 4.3.4).
  reply.header('etag', copy ?? `"${tag}"`)
  return copy !== undefined
}

/** The entry of a list of tags that stands for this one, with or without the suffix that a compressed answer has. */
function findTag(list: string, tag: string): string | undefined {
  if (list.trim() === '*') return `"${tag}"`
  return list
    .split(',', MAX_TAGS)
    .map((entry) => entry.trim().replace(/^W\//, ''))
    .find((entry) => entry.replace(CODING_SUFFIX, '"') === `"${tag}"`)
}

const MAX_TAGS = 100
/** A compressed body is another sequence of bytes and so has a strong tag of its own (RFC 9110, 8.8.1). */
const CODING_SUFFIX = /;(?:br|gzip|deflate)"$/

/** The tag of the same answer under a content coding. */
export function tagUnderCoding(tag: string, coding: string): string {
  return tag.replace(/"$/, `;${coding}"`)
}

let lastDateMs = Number.NaN
let lastDateText = ''

/** One answer's time is nearly always the next one's too: the text is kept. */
function httpDate(timeMs: number): string {
  if (timeMs !== lastDateMs) {
    lastDateMs = timeMs
    lastDateText = new Date(timeMs).toUTCString()
  }
  return lastDateText
}
