import { keccak256 } from '@landpass/server/ethereum/keccak256'

/** 32 bytes as `0x` and 64 hex digits in lower case: a topic, a token id or a hash. */
export type Word = string
/** 20 bytes as `0x` and 40 hex digits in lower case. */
export type Address = string

export const ZERO_ADDRESS: Address = `0x${'0'.repeat(40)}`
export const ZERO_WORD: Word = `0x${'0'.repeat(64)}`
export const MAX_UINT256 = (1n << 256n) - 1n

const ADDRESS_PADDING = '0'.repeat(24)
const MOST_REMEMBERED = 20_000
const addressWords = new Map<Address, Word>()

/**
 * A number as a word; negative ones in two's complement.
 *
 * @example
 * numberWord(-1) // '0xffff…ff', 64 digits
 */
export function numberWord(value: bigint | number): Word {
  return `0x${BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')}`
}

/** An address as a word: 12 zero bytes before it. The same text each time, as the logs of a chain repeat few of them. */
export function addressWord(address: Address): Word {
  const known = addressWords.get(address)
  if (known !== undefined) return known
  const word = `0x${ADDRESS_PADDING}${address.slice(2)}`
  if (addressWords.size >= MOST_REMEMBERED) addressWords.clear()
  addressWords.set(address, word)
  return word
}

/** The address in the last 20 bytes of a word. */
export function wordAddress(word: Word): Address {
  return `0x${word.slice(-40)}`
}

/** Bytes in hex, with `0x`. */
export function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}

/** The bytes of hex digits, with `0x`. */
export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}

/** The Keccak hash of the bytes of `hex`. */
export function hashOfHex(hex: string): Word {
  return hexOf(keccak256(bytesOf(hex)))
}

/** The Keccak hash of the bytes of all of them, one after the other: `keccak256(abi.encodePacked(…))`. */
export function hashOfParts(...hexes: readonly string[]): Word {
  return hashOfHex(`0x${hexes.map((hex) => hex.slice(2)).join('')}`)
}

/**
 * The Keccak hash of a text in UTF-8. Of the signature of an event it is its topic.
 *
 * @example
 * hashOfText('Transfer(address,address,uint256)') // '0xddf252ad…b3ef'
 */
export function hashOfText(text: string): Word {
  return hexOf(keccak256(Buffer.from(text)))
}

/** An address that is the same for the same text everywhere. It has no known key. */
export function addressOfText(text: string): Address {
  return wordAddress(hashOfText(text))
}
