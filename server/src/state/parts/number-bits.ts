/**
 * A set of a few numbers that is asked for each of many: a bit is found sooner than the key of a `Set`.
 *
 * @example
 * const bits = bitsOf([3, 40])
 * [3, 4, 5_000].map((number) => hasBit(bits, number)) // [true, false, false]
 */
export type NumberBits = Uint32Array

/** @param numbers integers from 0 on; the bits take an eighth of the largest, in bytes */
export function bitsOf(numbers: Iterable<number>): NumberBits {
  const list = [...numbers]
  const bits = new Uint32Array((list.reduce((last, one) => Math.max(last, one), 0) >>> 5) + 1)
  for (const one of list) bits[one >>> 5]! |= 1 << (one & 31)
  return bits
}

export function hasBit(bits: NumberBits, number: number): boolean {
  return ((bits[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0
}
