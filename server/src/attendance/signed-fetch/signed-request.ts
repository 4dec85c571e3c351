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

/** What can be used once: whoever has used it up has its hash remembered, until its time is over. */
export interface SingleUse {
  readonly hash: Buffer
  /** From then on it is refused for that alone, and its hash need no longer be remembered. */
  readonly expiresAtMs: number
}

/**
 * Who sent a request, proven. Its `hash` is the same whatever its signature is written like: it is made of owner,
 * ephemeral address and signed text.
 */
export interface SignedRequest extends SingleUse {
  /** The player's wallet, in lower case. */
  readonly address: string
  /** Whether the body is covered by the signature. True for an empty one. */
  readonly isBodySigned: boolean
  /** Was it sent from a scene's preview? Told by the metadata: realm.serverName is exactly `LocalPreview`, or its hostname is of the builder's own machine. */
  readonly isPreview: boolean
}
