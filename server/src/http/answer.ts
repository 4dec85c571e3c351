import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import zlib from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Freshness } from '../freshness.ts'
import type { CompressedBodies, SharedBody } from './compressed-bodies.ts'
import { acceptedEncoding, type ContentEncoding } from './content-encoding.ts'
import {
  type CostAccount,
  MADE_BYTES_PER_UNIT,
  SENT_BYTES_PER_UNIT,
  SMALL_ANSWER_UNITS,
} from './cost-account.ts'
import { ANSWER_HEADER_LIST, type HeaderList } from './cross-origin.ts'
import { COMPRESS_FROM_BYTES, COMPRESSED_TYPES, ENCODERS } from './encoders.ts'
import { cutReader, progressOf } from './slow-readers.ts'
import { confirmedTag, freshnessHeaders } from './validators.ts'

/**
 * What a route answers with. How it travels (304, HEAD, compression, streaming) is decided by {@link send} alone. Without
 * this, each of some fifty routes would decide that for itself, and charge its client for itself.
 *
 * For answers that clients may cache. Those of attendance and of operation may not be cached: their routes call
 * `reply.send`.
 */
export interface Answer {
  readonly freshness: Freshness
  readonly format: Format
  /**
   * Estimated cost of making the body, in units of one parcel read (cost-account.ts): the client is charged before the
   * body is made. Left out: that of a small answer. The cost of a {@link StreamedBody} is its own.
   */
  readonly cost?: number
  /** Called unless the client's copy is current: then the answer is 304. */
  body(): Body | Promise<Body>
}

/** The format of a body, and the headers that describe it. */
export interface Format {
  readonly contentType: string
  /** Whether the body is data for the envelope `{ "ok": true, "data": … }`; not for a {@link SharedBody}. */
  readonly hasEnvelope?: boolean
  /** Name under which browsers save the body as a file; left out: they show it. */
  readonly fileName?: string
  /**
   * Whether the answer has the header `vary: accept-encoding`, so that caches store compressed and plain bodies apart.
   * True if left out. False for images, which are never compressed, and for small documents about the interface.
   */
  readonly hasVaryHeader?: boolean
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** JSON data inside the envelope: what most endpoints answer. */
export const DATA: Format = { contentType: JSON_TYPE, hasEnvelope: true }
/** JSON without the envelope, in a format that other programs define. */
export const BARE_JSON: Format = { contentType: JSON_TYPE }
/** JSON that describes the interface itself. */
export const DOCUMENT: Format = { contentType: JSON_TYPE, hasVaryHeader: false }

/** The bytes of a body in pieces, one after another. */
export type BodyPieces = Iterable<Uint8Array>

/** Text, bytes or pieces are joined and sent at once; a {@link StreamedBody} is written piece by piece. */
export type Body = string | Uint8Array | BodyPieces | StreamedBody | SharedBody

/** A body that is too large for memory: a piece is made when the client has received those before it. */
export class StreamedBody {
  readonly pieces: () => BodyPieces
  readonly cost: number
  readonly cachedAs: CachedAs | undefined

  constructor(pieces: () => BodyPieces, cost: number, cachedAs: CachedAs | undefined) {
    this.pieces = pieces
    this.cost = cost
    this.cachedAs = cachedAs
  }
}

/** The cache that holds the compressed form of a streamed body, and its name there. */
interface CachedAs {
  readonly bodies: CompressedBodies
  readonly name: string
}

/**
 * A body that is written piece by piece, as fast as its client reads. A bounded number of them is open at a time
 * (large-answers.ts).
 *
 * @param pieces called when the first byte is needed: not for HEAD
 * @param cost estimated cost of making all pieces, in units of one parcel read
 * @param cachedAs for bodies that many clients request: each compressed form is made once and sent to all of them. Only
 *   the client for which it is made is charged its cost
 * @example
 * send(request, reply, { freshness, format: DATA, body: () => streamed(() => offerPieces(offers), 20) })
 */
export function streamed(pieces: () => BodyPieces, cost: number, cachedAs?: CachedAs): StreamedBody {
  return new StreamedBody(pieces, cost, cachedAs)
}

/**
 * Sends an answer, or 304 if the client's copy is current: then the body is not made.
 *
 * A whole body has a `content-length`: HEAD makes the body to know it. A streamed body has none, and HEAD makes
 * nothing. Bodies are compressed for each client anew (http/server.ts), cached bodies once for all clients.
 *
 * The client is charged the cost of the answer before its body is made.
 *
 * @throws {AppError} `too_many_requests` or `too_many_large_answers`
 * @example
 * send(request, reply, { freshness: state.freshness(), format: DATA, body: () => '[1]' }) // {"ok":true,"data":[1]}
 */
export function send(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): FastifyReply | Promise<FastifyReply> {
  const { freshness, format } = answer
  const copy = confirmedTag(request, freshness)
  if (copy !== undefined) {
    return sendAtOnce(request, reply, 304, [...varyHeader(format), ...freshnessHeaders(freshness, copy)])
  }
  request.costAccount?.charge(reply, answer.cost ?? SMALL_ANSWER_UNITS)
  const body = answer.body()
  if (body instanceof Promise) return body.then((made) => sendBody(request, reply, answer, made))
  return sendBody(request, reply, answer, body)
}

/** Sends JSON data inside the envelope that differ with each request: no client may cache them. */
export function sendUncached(reply: FastifyReply, data: BodyPieces): FastifyReply {
  setHeaders(reply, [...formatHeaders(DATA), 'cache-control', 'no-store'])
  return reply.send(joined(wholePieces(data, DATA)))
}

/** The headers that {@link send} sets for a body that is sent whole and uncompressed. */
export function answerHeaders({ freshness, format }: Pick<Answer, 'freshness' | 'format'>): HeaderList {
  return [...varyHeader(format), ...freshnessHeaders(freshness), ...formatHeaders(format)]
}

function varyHeader({ hasVaryHeader }: Format): HeaderList {
  return hasVaryHeader === false ? [] : ['vary', 'accept-encoding']
}

function formatHeaders({ contentType, fileName }: Format): HeaderList {
  if (fileName === undefined) return ['content-type', contentType]
  return ['content-type', contentType, 'content-disposition', `attachment; filename="${fileName}"`]
}

/** Sets headers of an answer that the framework sends. */
export function setHeaders(reply: FastifyReply, headers: HeaderList): FastifyReply {
  for (let at = 0; at < headers.length; at += 2) reply.header(headers[at]!, headers[at + 1])
  return reply
}

function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  body: Body,
): FastifyReply | Promise<FastifyReply> {
  if (body instanceof Uint8Array) {
    return sendWhole(request, reply, answer, { body: [body], bytesPerUnit: SENT_BYTES_PER_UNIT })
  }
  if (typeof body === 'string' || Symbol.iterator in body) {
    const whole = typeof body === 'string' ? wholeText(body, answer.format) : wholePieces(body, answer.format)
    return sendWhole(request, reply, answer, { body: whole, bytesPerUnit: MADE_BYTES_PER_UNIT })
  }
  setHeaders(reply, answerHeaders(answer))
  return body instanceof StreamedBody
    ? sendStreamed(request, reply, answer, body)
    : sendShared(request, reply, body)
}

function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  { body, bytesPerUnit }: { readonly body: WholeBody; readonly bytesPerUnit: number },
): FastifyReply {
  const bytes = bytesOf(body)
  request.costAccount?.settle(bytes / bytesPerUnit)
  const headers = answerHeaders(answer)
  const isCompressed =
    bytes >= COMPRESS_FROM_BYTES &&
    COMPRESSED_TYPES.test(answer.format.contentType) &&
    encodingOf(request) !== undefined
  if (isCompressed) {
    return setHeaders(reply, headers).send(typeof body === 'string' ? body : joined(body))
  }
  return sendAtOnce(request, reply, 200, [...headers, 'content-length', String(bytes)], { body, bytes })
}

/** Sends an answer that is complete without the hooks of the framework, which take longer than the rest of the request. */
function sendAtOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  headers: HeaderList,
  whole?: { readonly body: WholeBody; readonly bytes: number },
): FastifyReply {
  const all = ['x-request-id', request.id, ...ANSWER_HEADER_LIST, ...headers]
  const earlier = reply.getHeaders()
  for (const name in earlier) all.push(name, String(earlier[name as keyof typeof earlier]))
  const response = reply.hijack().raw.writeHead(status, all)
  if (whole) writeBody(response, whole.body, whole.bytes)
  else response.end()
  return reply
}

/** Node.js sends no body to HEAD, and pieces that are written one after another with one call of the system. */
function writeBody(response: ServerResponse, body: WholeBody, bytes: number): void {
  if (typeof body === 'string') response.end(body)
  else if (bytes < TEXT_BELOW_BYTES) response.end(joined(body).toString('latin1'), 'latin1')
  else {
    for (const piece of body.slice(0, -1)) response.write(piece)
    response.end(body.at(-1))
  }
}

/** Fewer bytes are sent as text, which Node.js joins with the headers. Bytes are written beside them, which costs a third more. */
const TEXT_BELOW_BYTES = 8 * 1024

/** A body in memory: text, or bytes in pieces. */
type WholeBody = string | readonly Uint8Array[]

function bytesOf(body: WholeBody): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body.reduce((sum, { length }) => sum + length, 0)
}

function joined(pieces: readonly Uint8Array[]): Buffer {
  const [only] = pieces
  if (!only || pieces.length > 1) return Buffer.concat(pieces)
  return Buffer.from(only.buffer, only.byteOffset, only.length)
}

function wholeText(text: string, { hasEnvelope }: Format): string {
  return hasEnvelope ? `${ENVELOPE_START}${text}${ENVELOPE_END}` : text
}

/** Copying this many bytes takes about as long as a piece of its own in a write. */
const JOINED_BELOW_BYTES = 1024

/** The pieces of a body in memory: small ones that follow each other are joined, large ones are not copied. */
function wholePieces(pieces: BodyPieces, { hasEnvelope }: Format): Uint8Array[] {
  const whole: Uint8Array[] = []
  let small: Uint8Array[] = hasEnvelope ? [ENVELOPE_START] : []
  const endSmall = () => {
    if (small.length > 0) whole.push(joined(small))
    small = []
  }
  for (const piece of pieces) {
    if (piece.length < JOINED_BELOW_BYTES) {
      small.push(piece)
      continue
    }
    endSmall()
    whole.push(piece)
  }
  if (hasEnvelope) small.push(ENVELOPE_END)
  endSmall()
  return whole
}

/** Sends a body that many clients share, compressed once for all of them. The caller has set all other headers. */
export async function sendShared(
  request: FastifyRequest,
  reply: FastifyReply,
  body: SharedBody,
): Promise<FastifyReply> {
  const encoding = body.encodingFor(encodingOf(request))
  if (encoding) reply.header('content-encoding', encoding)
  const bytes = await body.bytesIn(encoding)
  request.costAccount?.settle(bytes.length / SENT_BYTES_PER_UNIT)
  return reply.send(bytes)
}

function sendStreamed(
  request: FastifyRequest,
  reply: FastifyReply,
  { freshness, format }: Answer,
  body: StreamedBody,
): FastifyReply {
  const encoding = streamEncoding(request, body)
  if (encoding) reply.header('content-encoding', encoding)
  if (request.method === 'HEAD') return reply.send(Readable.from([], { objectMode: false }))
  const pieces = () => (format.hasEnvelope ? inEnvelope(body.pieces()) : body.pieces())
  if (!body.cachedAs) return sendForOneClient(request, reply, { ...body, pieces }, encoding)
  const { bodies, name } = body.cachedAs
  if (!encoding) {
    const complete = bodies.complete(name, freshness.tag)
    if (complete) return sendDecompressed(request, reply, complete, body.cost)
    return sendForOneClient(request, reply, { ...body, pieces }, encoding)
  }
  const isMade = bodies.holdsLarge(name, freshness.tag, encoding)
  if (!isMade) request.costAccount?.charge(reply, body.cost)
  const shared = bodies.large(name, freshness.tag, encoding, pieces)
  if (shared.whole) request.costAccount?.settle(shared.whole.length / SENT_BYTES_PER_UNIT)
  const sent = shared.whole ?? settled(shared.read(), SENT_BYTES_PER_UNIT, request.costAccount)
  return reply.send(sent instanceof Uint8Array ? sent : Readable.from(sent, { objectMode: false }))
}

/** The part of the cost of making a body that decompressing it takes. */
const DECOMPRESSING_COST = 1 / 4

/** Writes a body that is cached in a compressed form to a client that accepts none. */
function sendDecompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  { encoding, bytes }: { readonly encoding: ContentEncoding; readonly bytes: Uint8Array },
  cost: number,
): FastifyReply {
  takePlace(request, reply, cost * DECOMPRESSING_COST)
  const options = { chunkSize: WRITE_BYTES }
  const decoder = encoding === 'br' ? zlib.createBrotliDecompress(options) : zlib.createGunzip(options)
  decoder.end(bytes)
  return reply.send(decoder)
}

/** Writes a body piece by piece, compressed for this client alone if it accepts compression. */
function sendForOneClient(
  request: FastifyRequest,
  reply: FastifyReply,
  { pieces, cost }: Pick<StreamedBody, 'pieces' | 'cost'>,
  encoding: ContentEncoding | undefined,
): FastifyReply {
  takePlace(request, reply, cost)
  const account = request.costAccount
  const writes = yieldingBetween(inWrites(pieces()), account)
  const plain = Readable.from(settled(writes, MADE_BYTES_PER_UNIT, account), { objectMode: false })
  if (!encoding) return reply.send(plain)
  const encoder =
    encoding === 'br'
      ? zlib.createBrotliCompress(ENCODERS.streamed.br)
      : zlib.createGzip(ENCODERS.streamed.gzip)
  // Either end may fail or be closed first. The framework logs the error of the encoder, which it sends.
  pipeline(plain, encoder, () => {})
  return reply.send(encoder)
}

/**
 * Takes a place among the large answers, then charges for the answer: a client that gets no place is not charged.
 *
 * @throws {AppError} `too_many_requests` or `too_many_large_answers`
 */
function takePlace(request: FastifyRequest, reply: FastifyReply, cost: number): void {
  const account = request.costAccount
  if (!account) return
  const { socket } = request.raw
  const leave = account.largeAnswers.enter(account.client, {
    progress: () => progressOf(socket),
    cut: () => cutReader(socket),
  })
  try {
    account.charge(reply, cost)
  } catch (error) {
    leave()
    throw error
  }
  countWhileOpen(request, reply, leave)
}

/** Calls `leave` when the answer is sent or its client has left: an answer that waits for its turn has no close event. */
function countWhileOpen({ raw }: FastifyRequest, reply: FastifyReply, leave: () => void): void {
  const { socket } = raw
  const end = () => {
    socket.off('close', end)
    leave()
  }
  if (socket.destroyed) leave()
  socket.once('close', end)
  reply.raw.once('close', end)
}

/** Charges for all bytes when the last one is read, or when the client has left. */
async function* settled(
  pieces: AsyncIterable<Uint8Array>,
  bytesPerUnit: number,
  account: CostAccount | undefined,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const piece of pieces) {
      bytes += piece.length
      yield piece
    }
  } finally {
    account?.settle(bytes / bytesPerUnit)
  }
}

function encodingOf({ headers }: FastifyRequest): ContentEncoding | undefined {
  const accepted = headers['accept-encoding']
  return accepted === undefined ? undefined : acceptedEncoding(String(accepted))
}

/**
 * The largest cost of a body that is compressed for one client: about 20 MB of JSON. For each MB, gzip takes 6 ms of CPU
 * and brotli 3 ms; without compression it is about 1 ms. Larger bodies are sent uncompressed.
 */
const MAX_COMPRESSED_COST = 450

function streamEncoding(request: FastifyRequest, body: StreamedBody): ContentEncoding | undefined {
  const encoding = encodingOf(request)
  if (!encoding || body.cachedAs || body.cost <= MAX_COMPRESSED_COST) return encoding
  request.headers['x-no-compression'] = 'true' // Else the plugin compresses what this function leaves uncompressed.
  return undefined
}

const ENVELOPE_START = Buffer.from('{"ok":true,"data":')
const ENVELOPE_END = Buffer.from('}')

function* inEnvelope(pieces: BodyPieces): Generator<Uint8Array> {
  yield ENVELOPE_START
  yield* pieces
  yield ENVELOPE_END
}

/** A write to the network costs about the same for ten bytes and for ten thousand, so small pieces are joined. */
const WRITE_BYTES = 64 * 1024

function* inWrites(pieces: BodyPieces): Generator<Uint8Array> {
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

/** Yields to the event loop after each piece, so that a fast client does not delay other requests. */
async function* yieldingBetween(
  pieces: BodyPieces,
  account: CostAccount | undefined,
): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece
    await (account ? account.largeAnswers.turn() : setImmediate())
  }
}
