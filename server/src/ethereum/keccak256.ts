import { createKeccak } from 'hash-wasm'

const hasher = await createKeccak(256)

/**
 * Ethereum's hash of bytes that stand one after the other: the original Keccak, whose padding differs from that of SHA-3.
 * 32 bytes.
 *
 * @throws {TypeError} for anything but bytes: texts and lists would give a hash of something else
 * @example
 * Buffer.from(keccak256(new Uint8Array())).toString('hex') // 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
 */
export function keccak256(...parts: readonly Uint8Array[]): Uint8Array {
  hasher.init()
  for (const part of parts) {
    if (!(part instanceof Uint8Array)) throw new TypeError('not a Uint8Array')
    hasher.update(part)
  }
  return hasher.digest('binary')
}
