import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Freshness } from '../freshness.ts'

/** Keep it, but ask before each use: asking costs one small answer, and no client ever shows an old offer. */
const USUAL_CACHE_CONTROL = 'public, no-cache'

/** The headers that let a client ask whether its copy is still right, and say how long it may keep it. */
export function freshnessHeaders({ tag, changedAtMs, cacheControl = USUAL_CACHE_CONTROL }: Freshness) {
  const headers = { etag: `"${tag}"`, 'cache-control': cacheControl }
  return changedAtMs === undefined ? headers : { ...headers, 'last-modified': httpDate(changedAtMs) }
}

/**
 * Sets the headers of freshness and tells whether the client's copy is still right: then 304 is the answer. A date
 * counts only where no tag was sent (RFC 9110, 13.1.3).
 */
export function confirmsCopy(request: FastifyRequest, reply: FastifyReply, freshness: Freshness): boolean {
  reply.headers(freshnessHeaders(freshness))
  const { tag, changedAtMs } = freshness
  const knownTags = request.headers['if-none-match']
  if (knownTags === undefined) return isUnchangedSince(request.headers['if-modified-since'], changedAtMs)
  const knownTag = findTag(knownTags, tag)
  if (knownTag === undefined) return false
  // A cache finds the copy that was confirmed by its tag, coding and all (RFC 9111, 4.3.4).
  reply.header('etag', knownTag)
  return true
}

function isUnchangedSince(date: string | undefined, changedAtMs: number | undefined): boolean {
  if (date === undefined || changedAtMs === undefined) return false
  return Math.floor(changedAtMs / 1000) * 1000 <= Date.parse(date)
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

/** Most answers have the time of the one before them: its text is kept. */
function httpDate(timeMs: number): string {
  if (timeMs !== lastDateMs) {
    lastDateMs = timeMs
    lastDateText = new Date(timeMs).toUTCString()
  }
  return lastDateText
}
