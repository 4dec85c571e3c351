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
 * Finds the secret that a grant is signed with: HMAC-SHA256 over the uuid, a line feed and the body, as 64 hex digits in
 * lower case; the key is the whole text of the secret in UTF-8. Takes as long for a wrong signature as for a right one.
 */
export function findSigning<Secret extends { readonly text: string }>(
  secrets: readonly Secret[],
  { uuid, body, signature }: SignedGrant,
): Secret | undefined {
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return undefined
  const sent = Buffer.from(signature, 'hex')
  // All are compared, also after a match
  const matching = secrets.filter(({ text }) => {
    const wanted = createHmac('sha256', text).update(`${uuid}\n`).update(body).digest()
    return timingSafeEqual(sent, wanted)
  })
  return matching[0]
}
