/** `cache-control` of answers that clients may keep, but have to confirm before each use. */
export const CONFIRMED = 'public, no-cache'

/** What the validators (`ETag`, `Last-Modified`) of an answer are made of. */
export interface Freshness {
  /** Differs whenever the body differs. Characters of `[\w.-]`, without quotes. */
  readonly tag: string
  /** Milliseconds since 1970. Left out where no time is known: then there is no `Last-Modified`. */
  readonly changedAtMs?: number
  /** `cache-control` of the answer; {@link CONFIRMED} by default. */
  readonly cacheControl?: string
}

/** The freshness of data whose last change has a time. */
export interface DatedFreshness extends Freshness {
  readonly changedAtMs: number
}

/**
 * `cache-control` of answers that clients and caches may use for a time without asking.
 *
 * @param times.maxAgeMs 0: they have to ask before each use
 * @param times.staleMs for how long after that they may still use an answer while they ask
 * @example
 * cacheControlOf({ maxAgeMs: 120_000, staleMs: 180_000 }) // 'public, max-age=120, stale-while-revalidate=180'
 */
export function cacheControlOf(times: { readonly maxAgeMs: number; readonly staleMs: number }): string {
  const [maxAgeS, staleS] = [times.maxAgeMs, times.staleMs].map((ms) => Math.floor(ms / 1000))
  if (maxAgeS === 0) return CONFIRMED
  return `public, max-age=${maxAgeS}${staleS === 0 ? '' : `, stale-while-revalidate=${staleS}`}`
}
