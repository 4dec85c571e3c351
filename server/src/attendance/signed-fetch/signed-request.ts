/** A request as it came in, as far as its signature covers it. */
export interface IncomingRequest {
  /** In any letter case. */
  readonly method: string
  /** Path alone, as the client sent it: no host, no query. */
  readonly path: string
  /** Names in lower case, as node:http gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The very bytes; empty where there are none. */
  readonly body: Buffer
}

/** Who sent a request, proven. */
export interface SignedRequest {
  /** The player's wallet, in lower case. */
  readonly address: string
  /** What makes the request usable once, whatever its signature is written like: a hash of owner, ephemeral address and signed text. */
  readonly hash: Buffer
  /** When the signature stops being acceptable, and its hash need no longer be remembered. */
  readonly expiresAtMs: number
  /** Whether the body is covered by the signature. True for an empty one. */
  readonly isBodySigned: boolean
  /** Was it sent from a scene's preview? Told by the metadata: realm.serverName is exactly `LocalPreview`, or its hostname is of the builder's own machine. */
  readonly isPreview: boolean
}
