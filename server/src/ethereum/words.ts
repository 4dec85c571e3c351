/**
 * A number as a word of the chain: 64 hex digits without `0x`; a negative one as its two's complement.
 *
 * @example
 * word(255n).slice(-4) // '00ff'
 */
export function word(value: bigint | number | string): string {
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')
}
