import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_START = 'lps_'
const SECRET_BYTES = 32
const SIGNATURE = /^[0-9a-f]{64}$/

/** A new secret: 256 random bits as text. */
export function makeSecret(): string {
  return SECRET_START + randomBytes(SECRET_BYTES).toString('base64url')
}

/** What a signature of a grant covers. */
export interface SignedGrant {
  /** The event, in lower case. */
  readonly uuid: string
  /** The body of the request, byte by byte. */
  readonly body: Buffer
  /** The header of the request. */
  readonly signature: unknown
}

/**
 * Whether a grant is signed with one of the secrets: HMAC-SHA256 over the uuid, a line feed and the body, as 64 hex
 * digits in lower case; the key is the whole text of the secret in UTF-8. Takes as long for a wrong signature as for a
 * right one.
 */
export function isSignedWith(secrets: readonly string[], { uuid, body, signature }: SignedGrant): boolean {
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return false
  const sent = Buffer.from(signature, 'hex')
  const matches = secrets.map((secret) => {
    const wanted = createHmac('sha256', secret).update(`${uuid}\n`).update(body).digest()
    return timingSafeEqual(sent, wanted)
  })
  return matches.includes(true)
}
