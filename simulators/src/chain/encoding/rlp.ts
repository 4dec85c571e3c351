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
  const bytes = Buffer.allocUnsafe(lengthOf(item))
  write(item, bytes, 0)
  return bytes
}

/** A whole number as RLP wants it: without leading zeros, zero as no byte. */
export function rlpNumber(value: bigint | number): Uint8Array {
  if (value === 0 || value === 0n) return EMPTY
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function lengthOf(item: RlpItem): number {
  if (isByteOfItsOwn(item)) return 1
  const length = contentLengthOf(item)
  return (length <= SHORT ? 1 : 1 + bytesOfLength(length)) + length
}

function contentLengthOf(item: RlpItem): number {
  if (item instanceof Uint8Array) return item.length
  let length = 0
  for (const member of item) length += lengthOf(member)
  return length
}

/** @returns where the next item stands */
function write(item: RlpItem, bytes: Uint8Array, at: number): number {
  if (isByteOfItsOwn(item)) {
    bytes[at] = item[0]!
    return at + 1
  }
  const isBytes = item instanceof Uint8Array
  let next = writePrefix(isBytes ? 0x80 : 0xc0, contentLengthOf(item), bytes, at)
  if (isBytes) {
    bytes.set(item, next)
    return next + item.length
  }
  for (const member of item) next = write(member, bytes, next)
  return next
}

function writePrefix(base: number, length: number, bytes: Uint8Array, at: number): number {
  if (length <= SHORT) {
    bytes[at] = base + length
    return at + 1
  }
  const count = bytesOfLength(length)
  bytes[at] = base + SHORT + count
  for (let i = 0; i < count; i++) bytes[at + 1 + i] = Math.floor(length / 256 ** (count - 1 - i)) % 256
  return at + 1 + count
}

/** A single small byte stands for itself. */
function isByteOfItsOwn(item: RlpItem): item is Uint8Array {
  return item instanceof Uint8Array && item.length === 1 && item[0]! < 0x80
}

function bytesOfLength(length: number): number {
  return length < 0x100 ? 1 : length < 0x10000 ? 2 : length < 0x1000000 ? 3 : 4
}
