import { createHash } from 'node:crypto'

export const PROOF_ALGORITHM = 'sha256'

/** The input of a proof of work, which the player's client solves. */
export interface Challenge {
  /** The uuid of the player's pending captcha. */
  readonly uuid: string
  readonly eventUuid: string
  /** In lower case. */
  readonly address: string
}

const NONCE = /^\d{1,64}$/

/**
 * Whether `sha256("<uuid>:<event uuid>:<address>:<nonce>")` begins with `bits` zero bits. Finding a nonce takes
 * 2^bits hashes on average, checking it takes one.
 *
 * @param nonce 1 to 64 decimal digits; any other text is no proof
 * @example
 * const challenge = {
 *   uuid: '0d4f0f0a-8d1c-4a55-9a43-9f6c7b1f2a33',
 *   eventUuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
 *   address: '0x00000000000000000000000000000000000000aa',
 * }
 * isProof(challenge, '7483', 12) // true: the hash begins with 000f
 */
export function isProof({ uuid, eventUuid, address }: Challenge, nonce: string, bits: number): boolean {
  return isNonceOf(`${uuid}:${eventUuid}:${address}`, nonce, bits)
}

/** Whether `sha256("<challenge>:<nonce>")` begins with `bits` zero bits. @param nonce 1 to 64 decimal digits */
export function isNonceOf(challenge: string, nonce: string, bits: number): boolean {
  if (!NONCE.test(nonce)) return false
  const hash = createHash('sha256').update(`${challenge}:${nonce}`).digest()
  return leadingZeroBits(hash) >= bits
}

function leadingZeroBits(hash: Buffer): number {
  const at = hash.findIndex((byte) => byte !== 0)
  return at === -1 ? 8 * hash.length : 8 * at + Math.clz32(hash[at]!) - 24
}
