import { AppError } from '../errors.ts'
import { checksumAddress } from '../ethereum/checksum-address.ts'

/**
 * An address that a request wants to be stored, in lower case. In mixed letter case the letters are a checksum (EIP-55): a wrong
 * one means that a character was mistyped.
 *
 * @param address `0x` and 40 hex digits
 * @throws {AppError} `invalid_parameter` with the address
 */
export function storedAddress(parameter: string, address: string): string {
  const lower = `0x${address.slice(2).toLowerCase()}`
  if (hasRightCase(address)) return lower
  throw new AppError(
    'invalid_parameter',
    `${parameter} has an address with a mistyped character: the letter case of ${address} is not its checksum. Copy it again.`,
    { parameter, value: address, allowed: 'addresses in one letter case, or with the right checksum' },
  )
}

/**
 * Whether the letter case of an address is no sign of a mistyped character: it is one case, or the right checksum.
 *
 * @param address `0x` and 40 hex digits
 */
export function hasRightCase(address: string): boolean {
  const digits = address.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true
  return checksumAddress(address) === `0x${digits}`
}
