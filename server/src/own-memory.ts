/**
 * Bytes that keep no others in memory, for a cache that counts what it holds: a Buffer may be a part of a larger one, and a small
 * one is part of a block of 8 kB that it shares with others.
 */
export function ownBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}

/**
 * A text that keeps no other in memory: V8 stores a part of a text as a reference to the whole, so a name from a path would keep
 * the whole address with its query.
 *
 * @param text of ASCII
 */
export function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
