/** What decides whether a client's copy of an answer is still right: its `ETag` and `Last-Modified` are made of it. */
export interface Freshness {
  /** Changes whenever the body does: without quotes, of `[\w.-]`. */
  readonly tag: string
  /** Left out where no time is known: then no `Last-Modified` is sent, and no date confirms a copy. */
  readonly changedAtMs?: number
  /** `cache-control` of the answer; left out: `public, no-cache`. */
  readonly cacheControl?: string
}

/** The freshness of data whose last change has a time. */
export interface DatedFreshness extends Freshness {
  readonly changedAtMs: number
}
