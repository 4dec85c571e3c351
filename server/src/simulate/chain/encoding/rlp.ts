/** What RLP encodes: bytes, and lists of it. */
export type RlpItem = Uint8Array | readonly RlpItem[]

const SHORT = 55
const EMPTY = new Uint8Array()

/**
 * Encodes bytes and lists as Ethereum does (RLP).
 *
 * @example
 * rlp([Buffer.from('cat'), []]) // c5 83 63 61 74 c0
 */
export function rlp(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) {
    if (item.length === 1 && item[0]! < 0x80) return item
    return Buffer.concat([prefix(0x80, item.length), item])
  }
  const parts = item.map(rlp)
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([prefix(0xc0, length), ...parts])
}

/** A whole number as RLP wants it: without leading zeros, zero as no byte. */
export function rlpNumber(value: bigint | number): Uint8Array {
  if (value === 0 || value === 0n) return EMPTY
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function prefix(base: number, length: number): Uint8Array {
  if (length <= SHORT) return Uint8Array.of(base + length)
  const lengthBytes = rlpNumber(length)
  return Uint8Array.of(base + SHORT + lengthBytes.length, ...lengthBytes)
}
