import { keccak_256 } from '@noble/hashes/sha3.js'

const WORD_BYTES = 32
/** The value of a hex digit by its character code; -1 for other characters. */
const DIGIT_VALUES = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
)
const HEX_DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
const HEX_PREFIX = Uint8Array.from('0x', (character) => character.charCodeAt(0))
const ENCODER = new TextEncoder()
const DECODER = new TextDecoder()

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
  // As characters and not as text: joining hundreds of short texts allocates 30 times as much
  const characters = new Uint8Array(2 + 2 * bytes.length)
  characters.set(HEX_PREFIX)
  let at = HEX_PREFIX.length
  for (const byte of bytes) {
    characters[at++] = HEX_DIGITS[byte >> 4]!
    characters[at++] = HEX_DIGITS[byte & 15]!
  }
  return DECODER.decode(characters)
}

/**
 * The bytes of a hex text.
 *
 * @throws {RangeError} for a text that is not `0x` and pairs of hex digits
 * @example
 * fromHex('0x01ff') // Uint8Array [1, 255]
 */
export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(hexBytes(text))
  writeHex(text, bytes, 0)
  return bytes
}

/** How many bytes a hex text has, if its digits are right. @throws {RangeError} for a text that is not `0x` and pairs */
export function hexBytes(text: string): number {
  if (typeof text !== 'string' || !text.startsWith('0x') || text.length % 2 !== 0) throw notHex()
  return text.length / 2 - 1
}

/** Writes the bytes of a hex text into others, from `at` on. @throws {RangeError} for other digits */
export function writeHex(text: string, bytes: Uint8Array, at: number): void {
  for (let from = 2; from < text.length; from += 2) {
    const byte = (digitAt(text, from) << 4) | digitAt(text, from + 1)
    if (byte < 0) throw notHex()
    bytes[at++] = byte
  }
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
  writeNumber(value, bytes, 0, length)
  return bytes
}

/** Writes a whole number into `length` bytes that are zero, from `at` on, big endian. */
export function writeNumber(value: bigint | number, bytes: Uint8Array, at: number, length: number): void {
  const small = typeof value === 'bigint' ? Number(value) : value
  if (Number.isSafeInteger(small) && small >= 0) {
    for (let place = at + length - 1, rest = small; place >= at && rest > 0; place--) {
      bytes[place] = rest % 256
      rest = Math.floor(rest / 256)
    }
    return
  }
  let rest = BigInt(value)
  for (let place = at + length - 1; place >= at && rest !== 0n; place--) {
    bytes[place] = Number(rest & 0xffn)
    rest >>= 8n
  }
}

/** Big endian bytes as a whole number. */
export function bytesNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes))
}

export function utf8(text: string): Uint8Array {
  return ENCODER.encode(text)
}
