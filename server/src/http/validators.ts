import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { CONFIRMED, type Freshness } from '../freshness.ts'
import { newHttpDate } from './http-date.ts'

/** The validators of an answer, and the header that says how long clients may cache it. */
export function freshnessHeaders({ tag, changedAtMs, cacheControl = CONFIRMED }: Freshness) {
  const headers = { etag: `"${tag}"`, 'cache-control': cacheControl }
  return changedAtMs === undefined ? headers : { ...headers, 'last-modified': httpDate(changedAtMs) }
}

/**
 * Sets the validators of an answer.
 *
 * @returns whether the client's copy is current, so that the answer is 304. `If-Modified-Since` counts only if
 * `If-None-Match` was not sent (RFC 9110, 13.1.3).
 * @throws {AppError} `precondition_failed` if the client wants this answer only with another ETag
 */
export function confirmsCopy(request: FastifyRequest, reply: FastifyReply, freshness: Freshness): boolean {
  const { tag, changedAtMs } = freshness
  assertWanted(request, tag)
  reply.headers(freshnessHeaders(freshness))
  const knownTags = request.headers['if-none-match']
  if (knownTags === undefined) return isUnchangedSince(request.headers['if-modified-since'], changedAtMs)
  const knownTag = findTag(knownTags, tag)
  if (knownTag === undefined) return false
  // With the suffix of its encoding, because caches find the confirmed copy by this ETag (RFC 9111, 4.3.4).
  reply.header('etag', knownTag)
  return true
}

function isUnchangedSince(date: string | undefined, changedAtMs: number | undefined): boolean {
  if (date === undefined || changedAtMs === undefined) return false
  return Math.floor(changedAtMs / 1000) * 1000 <= Date.parse(date)
}

/** Weak ETags in `If-Match` never match (RFC 9110, 13.1.1). */
function assertWanted({ headers }: FastifyRequest, tag: string): void {
  const wanted = headers['if-match']
  if (wanted === undefined || wanted.trim() === '*' || entriesOf(wanted).some((one) => isOf(tag, one))) return
  throw new AppError(
    'precondition_failed',
    'The answer has another ETag than If-Match names. Send the request again without If-Match.',
  )
}

/** The entry of an `If-None-Match` list that matches this tag. */
function findTag(list: string, tag: string): string | undefined {
  if (list.trim() === '*') return `"${tag}"`
  return entriesOf(list)
    .map((entry) => entry.replace(/^W\//, ''))
    .find((entry) => isOf(tag, entry))
}

function entriesOf(list: string): string[] {
  return list.split(',', MAX_TAGS).map((entry) => entry.trim())
}

/** Whether an entry is this tag, with or without the suffix of a compressed answer. */
function isOf(tag: string, entry: string): boolean {
  return entry.replace(ENCODING_SUFFIX, '"') === `"${tag}"`
}

const MAX_TAGS = 100
/** A compressed body has other bytes, and so its own strong ETag (RFC 9110, 8.8.1). */
const ENCODING_SUFFIX = /;(?:br|gzip|deflate)"$/

/** The ETag of the same answer with a content encoding. */
export function encodedTag(tag: string, encoding: string): string {
  return tag.replace(/"$/, `;${encoding}"`)
}

const httpDate = newHttpDate()
