import { sha256 } from '@noble/hashes/sha2.js'
import { eachFrame } from './frames.ts'

/** A frame takes 33 ms on a slow phone; a quarter of it is not seen. */
const SLICE_MS = 8
/** A challenge holds for two minutes; the claim has to arrive in time. */
const MAX_WORK_MS = 110_000
/** Hashes between two looks at the clock: 1 ms or less. */
const HASHES_AT_ONCE = 16

/**
 * Finds the number with which the SHA-256 of `beginning` and the number begins with `bits` zero bits. Works for
 * {@link SLICE_MS} in each frame, so that the scene keeps its frame rate.
 *
 * @param beginning ASCII
 * @returns `too slow` after {@link MAX_WORK_MS}
 */
export function findNonce(beginning: string, bits: number): Promise<string> {
  const start = sha256.create().update(ascii(beginning))
  const giveUpMs = Date.now() + MAX_WORK_MS
  let nonce = 0
  return eachFrame(() => {
    const endMs = Date.now() + SLICE_MS
    do {
      for (const end = nonce + HASHES_AT_ONCE; nonce < end; nonce++) {
        const hash = start
          .clone()
          .update(ascii(String(nonce)))
          .digest()
        if (zeroBits(hash) >= bits) return String(nonce)
      }
    } while (Date.now() < endMs)
    return endMs > giveUpMs ? 'too slow' : undefined
  })
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

function zeroBits(hash: Uint8Array): number {
  const first = hash.findIndex((byte) => byte !== 0)
  return first < 0 ? 8 * hash.length : 8 * first + Math.clz32(hash[first] ?? 0) - 24
}
