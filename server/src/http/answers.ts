import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What decides whether a reader's copy is still right. */
export interface Freshness {
  /** Changes whenever the body does: without quotes, of `[\w.-]`. */
  readonly tag: string
  readonly changedAtMs: number
}

const JSON_TYPE = 'application/json; charset=utf-8'
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

/** Like {@link answer}, for data that is too large to hold: pieces are written as the reader takes them. */
export function answerStream(
  request: FastifyRequest,
  reply: FastifyReply,
  freshness: Freshness,
  makeData: () => Iterable<Uint8Array>,
): FastifyReply {
  if (isStillFresh(request, reply, freshness)) return reply.code(304).send()
  const body = Readable.from(inWrites(inEnvelope(makeData())), { objectMode: false })
  return reply.header('content-type', JSON_TYPE).send(body)
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

/** `{ "ok": true, "data": … }` around text that is JSON already. */
export function jsonPiece(json: string): JsonPieces {
  return [Buffer.from(json)]
}

/** Sets the headers of freshness and tells whether the reader's copy is still right. */
function isStillFresh(
  request: FastifyRequest,
  reply: FastifyReply,
  { tag, changedAtMs }: Freshness,
): boolean {
  reply.header('etag', `"${tag}"`)
  reply.header('last-modified', httpDate(changedAtMs))
  // Keep it, but ask before each use: asking costs one small answer, and no reader ever sees an old offer.
  reply.header('cache-control', 'public, no-cache')
  // Said of the uncompressed answer too, or a cache would take it for the only one.
  reply.header('vary', 'accept-encoding')
  const known = request.headers['if-none-match']
  if (known !== undefined) {
    const copy = findTag(known, tag)
    if (copy === undefined) return false
    // A cache finds the copy that was confirmed by its tag, coding and all (RFC 9111, 4.3.4).
    reply.header('etag', copy)
    return true
  }
  const since = request.headers['if-modified-since']
  return since !== undefined && Math.floor(changedAtMs / 1000) * 1000 <= Date.parse(since)
}

/** Whether the reader's copy has this tag. */
export function isTagKnown(request: FastifyRequest, tag: string): boolean {
  const known = request.headers['if-none-match']
  return known !== undefined && findTag(known, tag) !== undefined
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
