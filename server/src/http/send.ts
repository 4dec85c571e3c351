import { pipeline, Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import zlib from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type Answer,
  type AnswerOfAddress,
  answerHeaders,
  type Body,
  type BodyPieces,
  cachedForm,
  DATA,
  encodingFor,
  formatHeaders,
  StreamedBody,
  unchangedHeaders,
  wholeHeaders,
} from './answer.ts'
import { type CompressedForm, compressWhole, type SharedBody } from './compressed-bodies.ts'
import { type ContentEncoding, encodingOf } from './content-encoding.ts'
import {
  type CostAccount,
  MADE_BYTES_PER_UNIT,
  SENT_BYTES_PER_UNIT,
  SMALL_ANSWER_UNITS,
} from './cost-account.ts'
import { ANSWER_HEADER_LIST, type HeaderList, setHeaders } from './cross-origin.ts'
import { ENCODERS } from './encoders.ts'
import type { Remembered } from './ready-answers.ts'
import { cutReader, progressOf } from './slow-readers.ts'
import { confirmedTag } from './validators.ts'
import {
  bytesOfWhole,
  ENVELOPE_END,
  ENVELOPE_START,
  endWith,
  isAtOnce,
  joined,
  sentBytes,
  type WholeBody,
  wholeBody,
  wholePieces,
} from './whole-body.ts'

/**
 * Sends an answer, or 304 if the client's copy is current: then the body is not made.
 *
 * A whole body has a `content-length`: HEAD makes the body to know it. A streamed body has none, unless a compressed form of it
 * is cached, and HEAD makes nothing. Streamed bodies are compressed for each client anew, cached and held ones once for all
 * clients.
 *
 * The client is charged the cost of the answer before its body is made.
 *
 * @param given an {@link AnswerOfAddress} where the answer depends on nothing but the address
 * @param heldBytes memory that this function holds, beyond a few numbers and short texts
 * @throws {AppError} `too_many_requests` or `too_many_large_answers`
 * @example
 * send(request, reply, { freshness: state.freshness(), format: DATA, body: () => '[1]' }) // {"ok":true,"data":[1]}
 */
export function send(
  request: FastifyRequest,
  reply: FastifyReply,
  given: Answer | AnswerOfAddress,
  heldBytes = 0,
): FastifyReply | Promise<FastifyReply> {
  const remembered =
    typeof given === 'function' ? request.server.readyAnswers?.remember(request, given, heldBytes) : undefined
  const answer = remembered?.answer ?? (typeof given === 'function' ? given() : given)
  const copy = confirmedTag(request, answer.freshness)
  if (copy !== undefined) return sendAtOnce(request, reply, 304, unchangedHeaders(answer, copy))
  request.costAccount?.charge(reply, answer.cost ?? SMALL_ANSWER_UNITS)
  const held = remembered?.held?.whole
  if (held) return sendWhole(request, reply, answer, held, remembered)
  const body = answer.body()
  if (!(body instanceof Promise)) return sendBody(request, reply, answer, body, remembered)
  if (remembered) remembered.known.isAwaited = true
  return body.then((made) => sendBody(request, reply, answer, made, remembered))
}

/** Sends JSON data inside the envelope that differ with each request: no client may cache them. */
export function sendUncached(reply: FastifyReply, data: BodyPieces): FastifyReply {
  setHeaders(reply, [...formatHeaders(DATA), 'cache-control', 'no-store'])
  return reply.send(joined(wholePieces(data, true)))
}

function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  body: Body,
  remembered: Remembered | undefined,
): FastifyReply | Promise<FastifyReply> {
  if (isAtOnce(body)) {
    const made = wholeBody(body, answer.format)
    const whole = remembered?.held?.holdWhole(made) ?? made
    return sendWhole(request, reply, answer, whole, remembered)
  }
  if (body instanceof StreamedBody) {
    if (remembered) remembered.known.isShared = body.cachedAs !== undefined
    return sendStreamed(request, reply, answer, body)
  }
  setHeaders(reply, answerHeaders(answer))
  return sendShared(request, reply, body)
}

function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  whole: WholeBody,
  remembered: Remembered | undefined,
): FastifyReply | Promise<FastifyReply> {
  remembered?.known.rememberWhole(answer, whole)
  request.costAccount?.settle(whole.units)
  const encoding = encodingFor(request, answer.format, whole.bytes)
  const sent = (body: WholeBody) =>
    sendAtOnce(request, reply, 200, wholeHeaders(answer, body.bytes, encoding), body)
  if (!encoding) return sent(whole)
  const made = remembered?.held?.compress(encoding, whole) ?? compressWhole(bytesOfWhole(whole), encoding)
  return made instanceof Promise ? made.then((bytes) => sent(sentBytes(bytes))) : sent(sentBytes(made))
}

/** Sends an answer that is complete without the hooks of the framework, which take longer than the rest of the request. */
function sendAtOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  headers: HeaderList,
  whole?: WholeBody,
): FastifyReply {
  const all = ['x-request-id', request.id, ...ANSWER_HEADER_LIST, ...headers]
  const earlier = reply.getHeaders()
  for (const name in earlier) all.push(name, String(earlier[name as keyof typeof earlier]))
  const response = reply.hijack().raw.writeHead(status, all)
  endWith(response, whole)
  return reply
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
  answer: Answer,
  body: StreamedBody,
): FastifyReply {
  const { freshness, format } = answer
  const cached = cachedForm(request, answer, body)
  if (cached) {
    const whole = sentBytes(cached.bytes)
    request.costAccount?.settle(whole.units)
    return sendAtOnce(request, reply, 200, wholeHeaders(answer, whole.bytes, cached.encoding), whole)
  }
  const encoding = streamEncoding(request, body)
  setHeaders(reply, answerHeaders(answer))
  if (encoding) reply.header('content-encoding', encoding)
  if (request.method === 'HEAD') return reply.send(Readable.from([], { objectMode: false }))
  const pieces = () => (format.hasEnvelope ? inEnvelope(body.pieces()) : body.pieces())
  if (!body.cachedAs) return sendForOneClient(request, reply, { ...body, pieces }, encoding)
  const { bodies, name } = body.cachedAs
  if (!encoding) {
    // Decompressing costs less than making it again
    const complete = bodies.complete(name, freshness.tag, ['gzip', 'br'])
    if (complete) return sendDecompressed(request, reply, complete, body.cost)
    return sendForOneClient(request, reply, { ...body, pieces }, encoding)
  }
  const isBeingMade = bodies.holdsLarge(name, freshness.tag, encoding)
  if (!isBeingMade) request.costAccount?.charge(reply, body.cost)
  const shared = bodies.large(name, freshness.tag, encoding, pieces).read()
  return reply.send(
    Readable.from(settled(shared, SENT_BYTES_PER_UNIT, request.costAccount), { objectMode: false }),
  )
}

/** The part of the cost of making a body that decompressing it takes. */
const DECOMPRESSING_COST = 1 / 4

/** Writes a body that is cached in a compressed form to a client that accepts none. */
function sendDecompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  { encoding, bytes }: CompressedForm,
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
