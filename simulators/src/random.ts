const TWO_32 = 0x1_0000_0000
const SMALL = 1 << 21

/**
 * Numbers that look random and are the same on every machine: sfc32, in 32-bit integers only; not for secrets. Each part of a
 * world draws from a {@link fork} with a name of its own, so that one more draw in one part moves nothing in another.
 *
 * @example
 * new Random(7).below(100) === new Random(7).below(100) // true
 */
export class Random {
  readonly #key: number
  #a: number
  #b: number
  #c: number
  #counter = 1

  /** @param seed a whole number; seeds that are equal modulo 2^32 give the same numbers */
  constructor(seed: number) {
    this.#key = seed >>> 0
    this.#a = mix(this.#key)
    this.#b = mix(this.#a ^ 0x9e3779b9)
    this.#c = mix(this.#b ^ 0x85ebca6b)
    for (let i = 0; i < 12; i++) this.#next()
  }

  /** Another generator, which depends on the seed and the label but not on what was drawn before. */
  fork(label: string): Random {
    let hash = 0x811c9dc5
    for (let i = 0; i < label.length; i++) hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193)
    return new Random(mix(this.#key ^ hash))
  }

  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    // The product stays under 2^53, so it is exact.
    if (limit <= SMALL) return Math.floor((this.#next() * limit) / TWO_32)
    const high = this.#next() & (SMALL - 1)
    return (high * TWO_32 + this.#next()) % limit
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** At least 0 and less than 1. */
  fraction(): number {
    return this.#next() / TWO_32
  }

  /** True in `percent` of a hundred cases. */
  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError('there is nothing to pick from')
    return item
  }

  /** Shuffles the array itself (Fisher and Yates). */
  shuffle<T>(items: T[]): T[] {
    for (let last = items.length - 1; last > 0; last--) {
      const other = this.below(last + 1)
      const moved = items[last] as T
      items[last] = items[other] as T
      items[other] = moved
    }
    return items
  }

  /** `0x` and `digits` hex digits: 40 for an address, 64 for a hash. */
  hex(digits: number): string {
    let text = '0x'
    while (text.length < digits + 2) text += this.#next().toString(16).padStart(8, '0')
    return text.slice(0, digits + 2)
  }

  /** `length` characters of the alphabet. */
  text(length: number, alphabet: string): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join('')
  }

  address(): string {
    return this.hex(40)
  }

  hash(): string {
    return this.hex(64)
  }

  uuid(): string {
    const h = this.hex(32).slice(2)
    const variant = '89ab'[this.below(4)]
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant}${h.slice(17, 20)}-${h.slice(20)}`
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}

/** Spreads a 32-bit number over all its bits (the finisher of murmur3). */
function mix(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16) ^ 0x2545f491) >>> 0
}
