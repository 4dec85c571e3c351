const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/**
 * An address, or null for the zero address, by which contracts mean nobody.
 *
 * @example
 * nobodyIfZero('0x0000000000000000000000000000000000000000') // null
 */
export function nobodyIfZero(address: string): string | null {
  return address === ZERO_ADDRESS ? null : address
}
