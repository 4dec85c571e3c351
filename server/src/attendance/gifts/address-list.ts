import { AppError } from '../../errors.ts'

/** Addresses of one list. */
export const MAX_ADDRESSES = 5_000
/** Room for tables in which each line has more than the address. */
export const MAX_LIST_CHARACTERS = 750_000

const ADDRESS = /^0x[0-9a-f]{40}$/i
const NO_ADDRESS = `0x${'0'.repeat(40)}`
const SEPARATOR = /[,;\t]/
const QUOTES = /^["']|["']$/g

export interface AddressLine {
  /** In lower case. */
  readonly address: string
  /** The line of the text, from 1. */
  readonly line: number
}

/**
 * Reads a list of addresses, one a line, or a table with one address in each line, whose first line may name its columns. Lines
 * without any text are skipped.
 *
 * @returns each address once, at the first line that has it
 * @throws {AppError} `invalid_parameter` with the number of the first line that has no address, several, or the zero address
 * @example
 * readAddressList('address,name\n0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582Ce587,Ann') // one address, of line 2
 */
export function readAddressList(list: string): readonly AddressLine[] {
  const found = new Map<string, AddressLine>()
  for (const [at, text] of list.split(/\r\n|\n|\r/).entries()) {
    if (text === '') continue
    // Trimmed in steps that take the same time for each character, whatever stands there
    const fields = text.split(SEPARATOR).map((field) => field.trim().replace(QUOTES, '').trim())
    if (fields.every((field) => field === '')) continue
    if (found.size === 0 && fields.some((field) => field.toLowerCase() === 'address')) continue
    const line = at + 1
    const addresses = fields.filter((field) => ADDRESS.test(field))
    const [address] = addresses
    if (address === undefined) throw badLine(line, 'no_address')
    if (addresses.length > 1) throw badLine(line, 'several')
    const lower = address.toLowerCase()
    if (lower === NO_ADDRESS) throw badLine(line, 'zero')
    if (!found.has(lower)) found.set(lower, { address: lower, line })
    if (found.size > MAX_ADDRESSES) throw badLine(line, 'too_many')
  }
  if (found.size === 0) throw badLine(1, 'no_address')
  return [...found.values()]
}

const FAULTS = {
  no_address: 'has no address: 0x and 40 hex digits',
  several: 'has several addresses',
  zero: 'has the zero address, which nobody holds',
  blocked: 'has a player whom the organiser has blocked',
  too_many: `is beyond ${MAX_ADDRESSES} addresses`,
} as const

/** @param line from 1; what stands in it is not shown, because it may be any text */
export function badLine(line: number, fault: keyof typeof FAULTS): AppError {
  return new AppError(
    'invalid_parameter',
    `Line ${line} of the list ${FAULTS[fault]}. Nothing was given: correct the list, then send it again.`,
    { parameter: 'list', value: null, allowed: `one address a line, at most ${MAX_ADDRESSES}`, line, fault },
  )
}
