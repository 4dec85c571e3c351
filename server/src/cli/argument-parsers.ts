import { isAddress } from '@landpass/client/tokens'
import { InvalidArgumentError } from 'commander'

/** Arguments of several commands. Each function throws an `InvalidArgumentError` that says what is allowed. */

/** The number or the UUID of an event. */
export function parseEvent(text: string): string {
  if (/^(?:\d{1,10}|[0-9a-fA-F-]{36})$/.test(text)) return text
  throw new InvalidArgumentError('must be the number or the UUID of an event.')
}

/** An address, in lower case. One in mixed letter case must have the right checksum. */
export function parseAddress(text: string): string {
  if (isAddress(text)) return text.toLowerCase()
  throw new InvalidArgumentError('must be an address: 0x and 40 hex digits.')
}
