/** No node can be asked now. The message names each node, without secrets of its address, and the reason. */
export class NoNodeError extends Error {
  /** Milliseconds until a node may be asked again; undefined where that is not known. */
  readonly retryAfterMs: number | undefined
  /** Whether all of them have a wrong address: repeating does not help. */
  readonly isLasting: boolean

  constructor(
    reasons: readonly string[],
    {
      retryAfterMs,
      isLasting = false,
    }: { readonly retryAfterMs?: number | undefined; readonly isLasting?: boolean } = {},
  ) {
    super(`no Ethereum node can be asked: ${reasons.join('; ')}`)
    this.name = 'NoNodeError'
    this.retryAfterMs = retryAfterMs
    this.isLasting = isLasting
  }
}
