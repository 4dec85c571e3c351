/** What decides whether a client's copy of an answer is still right: its `ETag` and `Last-Modified` are made of it. */
export interface Freshness {
  /** Changes whenever the body does: without quotes, of `[\w.-]`. */
  readonly tag: string
  readonly changedAtMs: number
}
