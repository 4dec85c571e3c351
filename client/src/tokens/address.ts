import { isHex, keccak256, toHex, utf8 } from './bytes.ts'

export const NO_ADDRESS = '0x0000000000000000000000000000000000000000'

/**
 * An address with the letter case that checks it (EIP-55).
 *
 * @param address `0x` and 40 hex digits in any letter case
 * @example
 * checksumAddress('0xa1207f3bba224e2c9c3c6d5af63d0eb1582ce587') // '0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582Ce587'
 */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = toHex(keccak256(utf8(digits))).slice(2)
  let checked = '0x'
  for (let at = 0; at < digits.length; at++) {
    checked += Number.parseInt(hash[at]!, 16) >= 8 ? digits[at]!.toUpperCase() : digits[at]!
  }
  return checked
}

/**
 * Whether a value is an address: 40 hex digits in one letter case, or in the one that checks them.
 *
 * @example
 * isAddress('0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582Ce587') // true
 * isAddress('0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582CE587') // false: a letter was changed
 */
export function isAddress(value: unknown): value is string {
  if (!isHex(value, 20)) return false
  const digits = value.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true
  return checksumAddress(value) === value
}

export function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
