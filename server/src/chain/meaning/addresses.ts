import { ZERO_ADDRESS } from '../chain-types.ts'

/**
 * An address, or null for the zero address, by which contracts mean nobody.
 *
 * @example
 * nobodyIfZero('0x0000000000000000000000000000000000000000') // null
 */
export function nobodyIfZero(address: string): string | null {
  return address === ZERO_ADDRESS ? null : address
}
