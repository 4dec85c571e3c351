import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_START = 'lps_'
const SECRET_BYTES = 32
const SIGNATURE = /^[0-9a-f]{64}$/i

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
 * What is wrong with a signature that does not have the form of one, as the end of a sentence; undefined for 64 hex digits. It says
 * nothing of the event.
 */
export function wrongForm(signature: unknown): string | undefined {
  if (typeof signature !== 'string' || signature === '') return 'is missing'
  if (SIGNATURE.test(signature)) return undefined
  if (/^sha256=/i.test(signature)) return 'begins with "sha256="'
  if (/^0x/i.test(signature)) return 'begins with "0x"'
  if (/^[\w+/-]{43}=?$/.test(signature)) return 'looks like base64'
  return 'is something else'
}

/**
 * Finds the secret that a grant is signed with: HMAC-SHA256 over the uuid, a line feed and the body, as 64 hex digits in
 * either case; the key is the whole text of the secret in UTF-8. Takes as long for a wrong signature as for a right one.
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
