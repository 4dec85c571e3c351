/**
 * The bytes of a hex text with `0x`; one with an odd number of digits gets a zero in front.
 *
 * @example
 * bytesOf('0x1ff') // 01 ff
 */
export function bytesOf(hex: string): Uint8Array {
  const digits = hex.slice(2)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

/**
 * Bytes as hex in lower case, with `0x`.
 *
 * @example
 * hexOf(new Uint8Array([1, 255])) // '0x01ff'
 */
export function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`
}
