/** What the validators (`ETag`, `Last-Modified`) of an answer are made of. */
export interface Freshness {
  /** Differs whenever the body differs. Characters of `[\w.-]`, without quotes. */
  readonly tag: string
  /** Milliseconds since 1970. Left out where no time is known: then there is no `Last-Modified`. */
  readonly changedAtMs?: number
  /** `cache-control` of the answer; `public, no-cache` by default. */
  readonly cacheControl?: string
}

/** The freshness of data whose last change has a time. */
export interface DatedFreshness extends Freshness {
  readonly changedAtMs: number
}
