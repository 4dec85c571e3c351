import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Freshness } from '../freshness.ts'
import { acceptedCoding, type Coding } from './codings.ts'
import type { CompressedBodies, SharedBody } from './compressed-bodies.ts'
import { confirmsCopy, freshnessHeaders } from './validators.ts'

/**
 * What a route answers with. How it travels (304, HEAD, compression, streaming) is decided by {@link send} alone.
 *
 * Answers without freshness do not need it: those of attendance and of operation are small objects that nobody may
 * keep, and go out with `reply.send`.
 */
export interface Answer {
  readonly freshness: Freshness
  readonly format: Format
  /** Called where the client has no copy that is still right. */
  body(): Body | Promise<Body>
}

/** What the bytes of a body mean. */
export interface Format {
  readonly contentType: string
  /** Whether the body is data for the envelope `{ "ok": true, "data": … }`; not for a {@link SharedBody}. */
  readonly hasEnvelope?: boolean
  /** For what is saved as a file rather than shown. */
  readonly fileName?: string
  /**
   * Whether the answer says `vary: accept-encoding`, uncompressed too, or a cache would take it for the only one.
   * Left out: it does. False for images, which are never compressed, and for small documents about the interface.
   */
  readonly saysVary?: boolean
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** JSON data inside the envelope: what most endpoints answer. */
export const DATA: Format = { contentType: JSON_TYPE, hasEnvelope: true }
/** JSON for programs that know no envelope. */
export const BARE_JSON: Format = { contentType: JSON_TYPE }
/** JSON that describes the interface itself. */
export const DOCUMENT: Format = { contentType: JSON_TYPE, saysVary: false }

/** Ready JSON in pieces. */
export type JsonPieces = Iterable<Uint8Array>

/** Text, bytes or pieces that are joined and sent at once; or one of the two below. */
export type Body = string | Uint8Array | JsonPieces | StreamedBody | SharedBody

/** A body that is too large to hold: each piece is made when the client has taken those before it. */
export class StreamedBody {
  readonly pieces: () => Iterable<Uint8Array>
  readonly kept: KeptName | undefined

  constructor(pieces: () => Iterable<Uint8Array>, kept: KeptName | undefined) {
    this.pieces = pieces
    this.kept = kept
  }
}

/** Where the compressed form of a streamed body is kept, and under which name. */
interface KeptName {
  readonly bodies: CompressedBodies
  readonly name: string
}

/**
 * A body that is written as its client reads, never held as a whole.
 *
 * @param pieces called when the first byte is needed: not for HEAD
 * @param kept where many ask for the same: clients that accept compression get one body that is made once for all
 * @example
 * send(request, reply, { freshness, format: DATA, body: () => streamed(() => offerPieces(offers)) })
 */
export function streamed(pieces: () => Iterable<Uint8Array>, kept?: KeptName): StreamedBody {
  return new StreamedBody(pieces, kept)
}

/**
 * Sends an answer, or 304 where the client's copy is still right: then its body is not asked for.
 *
 * A whole body has a length, and HEAD makes it to tell it. A streamed one has none, and HEAD makes nothing. Whole and
 * streamed bodies are compressed by the server for each client (http/server.ts), bodies that are kept only once.
 *
 * @example
 * send(request, reply, { freshness: state.freshness(), format: DATA, body: () => '[1]' }) // {"ok":true,"data":[1]}
 */
export function send(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): FastifyReply | Promise<FastifyReply> {
  const { freshness, format } = answer
  if (format.saysVary !== false) reply.header('vary', 'accept-encoding')
  if (confirmsCopy(request, reply, freshness)) return reply.code(304).send()
  reply.headers(formatHeaders(format))
  const body = answer.body()
  if (body instanceof Promise) return body.then((made) => sendBody(request, reply, answer, made))
  return sendBody(request, reply, answer, body)
}

/** Sends JSON data inside the envelope that are others each time: no cache may keep them. */
export function sendUnkept(reply: FastifyReply, data: JsonPieces): FastifyReply {
  return reply.headers({ ...formatHeaders(DATA), 'cache-control': 'no-store' }).send(wholePieces(data, DATA))
}

/** The headers that {@link send} sets for a body that is sent whole and uncompressed. */
export function answerHeaders({
  freshness,
  format,
}: Pick<Answer, 'freshness' | 'format'>): OutgoingHttpHeaders {
  const vary = format.saysVary === false ? {} : { vary: 'accept-encoding' }
  return { ...vary, ...freshnessHeaders(freshness), ...formatHeaders(format) }
}

function formatHeaders({ contentType, fileName }: Format): Record<string, string> {
  if (fileName === undefined) return { 'content-type': contentType }
  return { 'content-type': contentType, 'content-disposition': `attachment; filename="${fileName}"` }
}

function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  body: Body,
): FastifyReply | Promise<FastifyReply> {
  if (typeof body === 'string') return reply.send(wholeText(body, answer.format))
  if (body instanceof Uint8Array) return reply.send(body)
  if (body instanceof StreamedBody) return sendStreamed(request, reply, answer, body)
  if (Symbol.iterator in body) return reply.send(wholePieces(body, answer.format))
  return sendShared(request, reply, body)
}

/** Node writes short text together with the headers, in one piece; bytes would be a second one, and cost a third more. */
const TEXT_BELOW_BYTES = 8 * 1024

function wholeText(text: string, format: Format): string | Buffer {
  if (text.length >= TEXT_BELOW_BYTES) return wholePieces([Buffer.from(text)], format)
  return format.hasEnvelope ? `${ENVELOPE_START}${text}${ENVELOPE_END}` : text
}

function wholePieces(pieces: JsonPieces, { hasEnvelope }: Format): string | Buffer {
  const body = Buffer.concat(hasEnvelope ? [ENVELOPE_START, ...pieces, ENVELOPE_END] : [...pieces])
  return body.length < TEXT_BELOW_BYTES ? body.toString() : body
}

async function sendShared(
  request: FastifyRequest,
  reply: FastifyReply,
  body: SharedBody,
): Promise<FastifyReply> {
  const coding = body.codingFor(codingOf(request))
  if (coding) reply.header('content-encoding', coding)
  return reply.send(await body.in(coding))
}

function sendStreamed(
  request: FastifyRequest,
  reply: FastifyReply,
  { freshness, format }: Answer,
  { pieces, kept }: StreamedBody,
): FastifyReply {
  const coding = kept && codingOf(request)
  if (coding) reply.header('content-encoding', coding)
  if (request.method === 'HEAD') return reply.send(Readable.from([], { objectMode: false }))
  const all = () => (format.hasEnvelope ? inEnvelope(pieces()) : pieces())
  if (!coding) return reply.send(Readable.from(yieldingBetween(inWrites(all())), { objectMode: false }))
  const body = kept.bodies.large(kept.name, freshness.tag, coding, all)
  return reply.send(body.whole ?? Readable.from(body.read(), { objectMode: false }))
}

function codingOf({ headers }: FastifyRequest): Coding | undefined {
  return acceptedCoding(String(headers['accept-encoding'] ?? ''))
}

const ENVELOPE_START = Buffer.from('{"ok":true,"data":')
const ENVELOPE_END = Buffer.from('}')

function* inEnvelope(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
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

/** A client that takes everything at once must not keep all others waiting: yields to the event loop between writes. */
async function* yieldingBetween(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece
    await setImmediate()
  }
}
