import { hash } from 'node:crypto'

/**
 * A task of the server: find a number so that the hash of challenge, event, address and number begins with `bits` zero
 * bits.
 */
export interface ProofOfWork {
  readonly challenge: string
  readonly bits: number
}

export interface Claimant {
  readonly eventUuid: string
  /** In lower case. */
  readonly address: string
}

/**
 * Solves a proof of work. Tries numbers from 0 on: about 2^bits of them, a million per second.
 *
 * @example
 * findNonce({ challenge: 'c', bits: 0 }, { eventUuid: 'u', address: '0xab' }) // '0'
 */
export function findNonce({ challenge, bits }: ProofOfWork, { eventUuid, address }: Claimant): string {
  const beginning = `${challenge}:${eventUuid}:${address}:`
  for (let nonce = 0; ; nonce++) {
    if (leadingZeroBits(hash('sha256', `${beginning}${nonce}`, 'buffer')) >= bits) return String(nonce)
  }
}

/**
 * The number of zero bits at the beginning of a hash.
 *
 * @example
 * leadingZeroBits(Buffer.from([0, 0b0001_0000])) // 11
 */
export function leadingZeroBits(bytes: Uint8Array): number {
  let bits = 0
  for (const byte of bytes) {
    if (byte !== 0) return bits + Math.clz32(byte) - 24
    bits += 8
  }
  return bits
}
