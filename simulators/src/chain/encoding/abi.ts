import { type Address, addressWord, hexOf, numberWord, type Word } from './words.ts'

const WORD_BYTES = 32
const WORD_DIGITS = 64

/** One encoded argument. Hex without `0x`; a dynamic one stands behind the others, and its offset in its place. */
export interface Argument {
  readonly isDynamic: boolean
  readonly hex: string
}

/** A number of up to 256 bits; negative ones in two's complement. */
export const uint = (value: bigint | number): Argument => fixed(numberWord(value))
export const address = (value: Address): Argument => fixed(addressWord(value))
export const bool = (value: boolean): Argument => uint(value ? 1 : 0)
export const bytes32 = (value: Word): Argument => fixed(value)
/** 4 bytes, which stand at the start of their word. */
export const bytes4 = (value: string): Argument => fixed(value.padEnd(2 + WORD_DIGITS, '0'))

/** Bytes or a text of any length. */
export function bytes(value: Uint8Array): Argument {
  const digits = hexOf(value).slice(2)
  const padded = Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS
  return { isDynamic: true, hex: numberWord(value.length).slice(2) + digits.padEnd(padded, '0') }
}

/** Bytes as some contracts of 2018 write them where they come last: without the zeros that fill the last word. */
export function unpaddedBytes(value: Uint8Array): Argument {
  return { isDynamic: true, hex: numberWord(value.length).slice(2) + hexOf(value).slice(2) }
}

/** No bytes, as the compilers of early 2018 wrote them where they come last: one more word follows the length. */
export const OVERLONG_EMPTY_BYTES: Argument = { isDynamic: true, hex: '0'.repeat(2 * WORD_DIGITS) }

export function array(members: readonly Argument[]): Argument {
  return { isDynamic: true, hex: numberWord(members.length).slice(2) + joined(members) }
}

export function tuple(...members: readonly Argument[]): Argument {
  return { isDynamic: members.some(({ isDynamic }) => isDynamic), hex: joined(members) }
}

/**
 * Encodes arguments as contracts do (ABI): the data of a log, the answer of a call.
 *
 * @example
 * encode(uint(1), bytes(Buffer.from('a'))) // '0x00…01' + '00…40' + '00…01' + '6100…00'
 */
export function encode(...members: readonly Argument[]): string {
  return `0x${joined(members)}`
}

function fixed(word: Word): Argument {
  return { isDynamic: false, hex: word.slice(2) }
}

function joined(members: readonly Argument[]): string {
  let offset = 0
  for (const { isDynamic, hex } of members) offset += isDynamic ? WORD_BYTES : hex.length / 2
  let head = ''
  let tail = ''
  for (const { isDynamic, hex } of members) {
    if (!isDynamic) head += hex
    else {
      head += numberWord(offset).slice(2)
      tail += hex
      offset += hex.length / 2
    }
  }
  return head + tail
}
