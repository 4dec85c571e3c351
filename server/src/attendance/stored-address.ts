import { checksumAddress } from '@landpass/client/tokens'
import { AppError } from '../errors.ts'

/**
 * An address that a request wants to be stored, in lower case. In mixed letter case the letters are a checksum (EIP-55): a wrong
 * one means that a character was mistyped.
 *
 * @param address `0x` and 40 hex digits
 * @throws {AppError} `invalid_parameter` with the address
 */
export function storedAddress(parameter: string, address: string): string {
  const digits = address.slice(2)
  const lower = digits.toLowerCase()
  const isChecked = digits !== lower && digits !== digits.toUpperCase()
  if (!isChecked || checksumAddress(`0x${lower}`) === `0x${digits}`) return `0x${lower}`
  throw new AppError(
    'invalid_parameter',
    `${parameter} has an address with a mistyped character: the letter case of ${address} is not its checksum. Copy it again.`,
    { parameter, value: address, allowed: 'addresses in one letter case, or with the right checksum' },
  )
}
