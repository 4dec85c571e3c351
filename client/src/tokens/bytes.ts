import { keccak_256 } from '@noble/hashes/sha3.js'

const WORD_BYTES = 32
/** The value of a hex digit by its character code; -1 for other characters. */
const DIGIT_VALUES = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
)
/** Each byte as two hex digits. */
const BYTE_DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Ethereum's hash, 32 bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes)
}

/**
 * Bytes as hex text in lower case.
 *
 * @example
 * toHex(new Uint8Array([1, 255])) // '0x01ff'
 */
export function toHex(bytes: Uint8Array): string {
  let digits = ''
  for (const byte of bytes) digits += BYTE_DIGITS[byte]
  return `0x${digits}`
}

/**
 * The bytes of a hex text.
 *
 * @throws {RangeError} for a text that is not `0x` and pairs of hex digits
 * @example
 * fromHex('0x01ff') // Uint8Array [1, 255]
 */
export function fromHex(text: string): Uint8Array {
  if (typeof text !== 'string' || !text.startsWith('0x') || text.length % 2 !== 0) throw notHex()
  const bytes = new Uint8Array(text.length / 2 - 1)
  for (let at = 0; at < bytes.length; at++) {
    const byte = (digitAt(text, 2 * at + 2) << 4) | digitAt(text, 2 * at + 3)
    if (byte < 0) throw notHex()
    bytes[at] = byte
  }
  return bytes
}

/** The value of a hex digit, -1 for another character. A signature reads a thousand digits. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code < DIGIT_VALUES.length ? DIGIT_VALUES[code]! : -1
}

function notHex(): RangeError {
  return new RangeError('not a hex text')
}

/** Whether a text is `0x` and pairs of hex digits; with `bytes`, so many pairs. */
export function isHex(text: unknown, bytes?: number): text is string {
  if (typeof text !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) return false
  return bytes === undefined || text.length === 2 + 2 * bytes
}

/** Bytes one after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** A whole number as `length` bytes, big endian: 32 in ABI encoding. */
export function numberBytes(value: bigint | number, length = WORD_BYTES): Uint8Array {
  const bytes = new Uint8Array(length)
  const small = typeof value === 'bigint' ? Number(value) : value
  if (Number.isSafeInteger(small) && small >= 0) {
    for (let at = length - 1, rest = small; at >= 0 && rest > 0; at--, rest = Math.floor(rest / 256))
      bytes[at] = rest % 256
    return bytes
  }
  let rest = BigInt(value)
  for (let at = length - 1; at >= 0 && rest !== 0n; at--) {
    bytes[at] = Number(rest & 0xffn)
    rest >>= 8n
  }
  return bytes
}

/** Big endian bytes as a whole number. */
export function bytesNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes))
}

/** Bytes on the right of a word of 32. */
export function padLeft(bytes: Uint8Array): Uint8Array {
  return concat(new Uint8Array(WORD_BYTES - bytes.length), bytes)
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
