import { isAddress } from '@landpass/client/tokens'
import { InvalidArgumentError } from 'commander'

/** Arguments of several commands. Each function throws an `InvalidArgumentError` that says what is allowed. */

/** The largest seed of anything that is made or chosen at random. */
export const MAX_SEED = 2 ** 31 - 1

/** The number or the UUID of an event. */
export function parseEvent(text: string): string {
  if (/^(?:\d{1,10}|[0-9a-fA-F-]{36})$/.test(text)) return text
  throw new InvalidArgumentError('must be the number or the UUID of an event.')
}

/** An address, in lower case. One in mixed letter case must have the right checksum. */
export function parseAddress(text: string): string {
  if (isAddress(text)) return text.toLowerCase()
  throw new InvalidArgumentError(
    'must be an address: 0x and 40 hex digits, in one letter case or with its checksum.',
  )
}

/** @returns a parser of whole numbers from `min` to `max` */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d{1,16}$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`)
  }
}
