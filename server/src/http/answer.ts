import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Freshness } from '../freshness.ts'
import type { CompressedBodies, CompressedForm, SharedBody } from './compressed-bodies.ts'
import { type ContentEncoding, encodingOf } from './content-encoding.ts'
import type { HeaderList } from './cross-origin.ts'
import { COMPRESS_FROM_BYTES, COMPRESSED_TYPES } from './encoders.ts'
import { encodedTag, freshnessHeaders } from './validators.ts'

/**
 * What a route answers with. How it travels (304, HEAD, compression, streaming) is decided by `send` (send.ts) alone. Without
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
  /** Headers besides those of its freshness and its format. */
  readonly headers?: HeaderList
  /**
   * What the answer is made of: it is the same for every request with the same object (held-answers.ts). It holds no more memory than a few
   * numbers and short texts, besides this object. Left out: it is made anew for each request.
   */
  readonly moment?: object
  /** Called unless the client's copy is current: then the answer is 304. */
  body(): Body | Promise<Body>
}

/**
 * Makes the answer of an address, anew for each request: it depends on nothing else of them. Later requests for the address
 * call it without the framework (ready-answers.ts), so it must not hold a request, or a state of the land.
 */
export type AnswerOfAddress = () => Answer

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

/** The compressed form of a streamed body that is cached for the client of a request; none for HEAD, which makes nothing. */
export function cachedForm(
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  { freshness: { tag } }: Answer,
  { cachedAs }: StreamedBody,
): CompressedForm | undefined {
  const encoding = cachedAs && request.method === 'GET' ? encodingOf(request) : undefined
  return encoding && cachedAs?.bodies.complete(cachedAs.name, tag, [encoding])
}

/** The headers of an answer, without those of its length and encoding. @param etag of a compressed body */
export function answerHeaders({ freshness, format, headers = NONE }: Answer, etag?: string): HeaderList {
  return [...varyHeader(format), ...freshnessHeaders(freshness, etag), ...formatHeaders(format), ...headers]
}

/** The headers of an answer whose body is in memory. @param encoding in which the body is compressed */
export function wholeHeaders(answer: Answer, bytes: number, encoding?: ContentEncoding): HeaderList {
  const length = ['content-length', String(bytes)]
  if (!encoding) return [...answerHeaders(answer), ...length]
  const format = { ...answer.format, hasVaryHeader: true }
  const etag = encodedTag(`"${answer.freshness.tag}"`, encoding)
  return [...answerHeaders({ ...answer, format }, etag), 'content-encoding', encoding, ...length]
}

/** The headers of the answer 304 to a client whose copy has this ETag. */
export function unchangedHeaders({ freshness, format, headers = NONE }: Answer, copy: string): HeaderList {
  return [...varyHeader(format), ...freshnessHeaders(freshness, copy), ...headers]
}

const NONE: HeaderList = []

function varyHeader({ hasVaryHeader }: Format): HeaderList {
  return hasVaryHeader === false ? [] : ['vary', 'accept-encoding']
}

export function formatHeaders({ contentType, fileName }: Format): HeaderList {
  if (fileName === undefined) return ['content-type', contentType]
  return ['content-type', contentType, 'content-disposition', `attachment; filename="${fileName}"`]
}

/** The encoding in which a client gets the body of an answer; undefined: uncompressed. */
export function encodingFor(
  request: Pick<FastifyRequest, 'headers'>,
  { contentType }: Format,
  bytes: number,
): ContentEncoding | undefined {
  return bytes >= COMPRESS_FROM_BYTES && COMPRESSED_TYPES.test(contentType) ? encodingOf(request) : undefined
}
