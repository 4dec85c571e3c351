import { hashOf } from './curve.ts'

/**
 * Ethereum's hash: the original Keccak, whose padding differs from that of SHA-3. 32 bytes.
 *
 * @example
 * Buffer.from(keccak256(new Uint8Array())).toString('hex') // 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
 */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return hashOf(bytes)
}
