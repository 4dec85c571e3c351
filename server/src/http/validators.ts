import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { CONFIRMED, type Freshness } from '../freshness.ts'
import { refusalsOf } from './content-encoding.ts'
import type { HeaderList } from './cross-origin.ts'
import { newHttpDate } from './http-date.ts'

/**
 * The validators of an answer, and the header that says how long clients may cache it.
 *
 * @param etag of a confirmed copy: {@link confirmedTag}
 */
export function freshnessHeaders(
  { tag, changedAtMs, cacheControl = CONFIRMED }: Freshness,
  etag = `"${tag}"`,
): HeaderList {
  const headers = ['etag', etag, 'cache-control', cacheControl]
  if (changedAtMs !== undefined) headers.push('last-modified', httpDate(changedAtMs))
  return headers
}

/**
 * The ETag of the client's copy if that is current: then the answer is 304. `If-Modified-Since` counts only if
 * `If-None-Match` was not sent (RFC 9110, 13.1.3).
 *
 * The ETag has the suffix of the copy's encoding, because caches find the confirmed copy by it (RFC 9111, 4.3.4). It is none that the
 * client refuses: a cache with several copies names them all.
 *
 * @throws {AppError} `precondition_failed` if the client wants this answer only with another ETag
 */
export function confirmedTag(
  request: Pick<FastifyRequest, 'headers'>,
  { tag, changedAtMs }: Freshness,
): string | undefined {
  const { headers } = request
  assertWanted(headers['if-match'], tag)
  const knownTags = headers['if-none-match']
  if (knownTags !== undefined) return findTag(knownTags, tag, request)
  return isUnchangedSince(headers['if-modified-since'], changedAtMs) ? `"${tag}"` : undefined
}

function isUnchangedSince(date: string | undefined, changedAtMs: number | undefined): boolean {
  if (date === undefined || changedAtMs === undefined) return false
  return Math.floor(changedAtMs / 1000) * 1000 <= Date.parse(date)
}

/** Weak ETags in `If-Match` never match (RFC 9110, 13.1.1). */
function assertWanted(wanted: string | undefined, tag: string): void {
  if (wanted === undefined || wanted.trim() === '*' || entriesOf(wanted).some((one) => isOf(tag, one))) return
  throw new AppError(
    'precondition_failed',
    'The answer has another ETag than If-Match names. Send the request again without If-Match.',
  )
}

/** The entry of an `If-None-Match` list that matches this tag. */
function findTag(list: string, tag: string, request: Pick<FastifyRequest, 'headers'>): string | undefined {
  if (list === `"${tag}"` || list.trim() === '*') return `"${tag}"`
  const refuses = refusalsOf(request)
  const isAcceptable = (entry: string) => {
    const [, encoding] = ENCODING_SUFFIX.exec(entry) ?? []
    return encoding === undefined || !refuses(encoding)
  }
  return entriesOf(list)
    .map((entry) => entry.replace(/^W\//, ''))
    .find((entry) => isOf(tag, entry) && isAcceptable(entry))
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
const ENCODING_SUFFIX = /;(br|gzip|deflate)"$/

/** The ETag of the same answer with a content encoding. */
export function encodedTag(tag: string, encoding: string): string {
  return tag.replace(/"$/, `;${encoding}"`)
}

const httpDate = newHttpDate()
