/** An incoming request: the parts that its signature can cover. */
export interface IncomingRequest {
  /** In any letter case. */
  readonly method: string
  /** The path as the client sent it, without host and query. */
  readonly path: string
  /** Names in lower case, as node:http gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The unparsed bytes; empty for no body. */
  readonly body: Buffer
}

/** Something that can be used once: using it up stores its hash until it expires. */
export interface SingleUse {
  readonly hash: Buffer
  /** After this time it is refused as expired, and its hash need not be stored any more. */
  readonly expiresAtMs: number
}

/**
 * A verified request. Its `hash` is made of owner, ephemeral address and signed text, so it does not depend on the
 * spelling of the signature.
 */
export interface SignedRequest extends SingleUse {
  /** The player's wallet, in lower case. */
  readonly address: string
  /** Whether the body is covered by the signature. True for an empty one. */
  readonly isBodySigned: boolean
  /** Whether it was sent from a preview: in the metadata realm.serverName is `LocalPreview`, or a host of the realm is local or private. */
  readonly isPreview: boolean
  /** Whether the metadata say that the player is a guest. */
  readonly isGuest: boolean
}
