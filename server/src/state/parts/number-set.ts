/**
 * A set of whole numbers from 0 on, as bits. Joining two sets of 92,000 numbers takes some 5 µs, and a number is found sooner than
 * the key of a `Set`.
 *
 * @example
 * const set = NumberSet.of([3, 40])
 * set.list() // [3, 40]
 * set.has(4) // false
 */
export class NumberSet {
  private readonly words: Int32Array

  /** @param end all numbers of the set are below it */
  constructor(end: number | Int32Array) {
    this.words = typeof end === 'number' ? new Int32Array((end + 31) >>> 5) : end
  }

  /** @param end as in the constructor; left out: beyond the largest of the numbers */
  static of(numbers: Iterable<number>, end?: number): NumberSet {
    const list = numbers instanceof Uint32Array ? numbers : Uint32Array.from(numbers)
    const set = new NumberSet(end ?? list.reduce((last, one) => Math.max(last, one), -1) + 1)
    for (let i = 0; i < list.length; i++) set.add(list[i]!)
    return set
  }

  get isEmpty(): boolean {
    return this.read(new Uint32Array(1)) === 0
  }

  has(number: number): boolean {
    return ((this.words[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0
  }

  add(number: number): void {
    this.words[number >>> 5]! |= 1 << (number & 31)
  }

  delete(number: number): void {
    this.words[number >>> 5]! &= ~(1 << (number & 31))
  }

  /** Adds the numbers from one to before another. */
  addRange(from: number, to: number): void {
    if (from >= to) return
    const { words } = this
    const [first, last] = [from >>> 5, (to - 1) >>> 5]
    const [fromFirst, toLast] = [-1 << (from & 31), -1 >>> (31 - ((to - 1) & 31))]
    words[first]! |= first === last ? fromFirst & toLast : fromFirst
    if (first === last) return
    words.fill(-1, first + 1, last)
    words[last]! |= toLast
  }

  copy(): NumberSet {
    return new NumberSet(this.words.slice())
  }

  // The next three change this set, and expect one with the same end.

  /** Keeps what the other set has too. */
  keep(other: NumberSet): this {
    for (let i = 0; i < this.words.length; i++) this.words[i]! &= other.words[i]!
    return this
  }

  addAll(other: NumberSet): this {
    for (let i = 0; i < this.words.length; i++) this.words[i]! |= other.words[i]!
    return this
  }

  deleteAll(other: NumberSet): this {
    for (let i = 0; i < this.words.length; i++) this.words[i]! &= ~other.words[i]!
    return this
  }

  /** Keeps those for which a function holds. */
  filter(keeps: (number: number) => boolean): this {
    const { words } = this
    for (let i = 0; i < words.length; i++) {
      for (let left = words[i]!; left !== 0; left &= left - 1) {
        const lowest = left & -left
        if (!keeps(i * 32 + 31 - Math.clz32(lowest))) words[i]! ^= lowest
      }
    }
    return this
  }

  /** How many numbers there are; with another set how many both have. */
  count(other: NumberSet = this): number {
    let count = 0
    for (let i = 0; i < this.words.length; i++) {
      // Sums of neighbouring bits, then of pairs of them, then of fours; the product adds the bytes.
      let sum = this.words[i]! & other.words[i]!
      if (sum === 0) continue
      sum -= (sum >>> 1) & 0x55555555
      sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333)
      count += Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
    }
    return count
  }

  /**
   * Writes the lowest numbers from one on, in ascending order.
   *
   * @param into as many as it has room for
   * @param other only numbers that it has, too
   * @returns how many were written
   */
  read(into: Uint32Array, from = 0, other: NumberSet = this): number {
    const { words } = this
    let count = 0
    let mask = -1 << (from & 31)
    for (let i = from >>> 5; i < words.length; i++, mask = -1) {
      for (let left = words[i]! & other.words[i]! & mask; left !== 0; left &= left - 1) {
        if (count === into.length) return count
        into[count++] = i * 32 + 31 - Math.clz32(left & -left)
      }
    }
    return count
  }

  /** All numbers in ascending order; with another set those that both have. */
  list(other: NumberSet = this): Uint32Array {
    const list = new Uint32Array(this.count(other))
    this.read(list, 0, other)
    return list
  }
}
