/**
 * Pseudo-random numbers (mulberry32): the same for the same seed on every machine. For choosing faults and making
 * codes; not for secrets.
 *
 * @example
 * new SeededRandom(7).next() === new SeededRandom(7).next() // true
 */
export class SeededRandom {
  private state: number

  /** @param seed a whole number; seeds that are equal modulo 2^32 give the same numbers */
  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** The next number, at least 0 and less than 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A text of `length` characters of the alphabet. */
  text(length: number, alphabet: string): string {
    return Array.from({ length }, () => alphabet[Math.floor(this.next() * alphabet.length)]).join('')
  }
}
