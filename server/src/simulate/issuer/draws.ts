/**
 * Numbers that look random and are the same for the same seed, on every machine (mulberry32). For choosing what goes
 * wrong and for inventing codes; nothing here has to be hard to guess.
 *
 * @example
 * new Draws(7).next() === new Draws(7).next() // true
 */
export class Draws {
  private state: number

  /** @param seed a whole number; numbers that are equal modulo 2^32 give the same draws */
  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** At least 0 and less than 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** So many letters of the alphabet. */
  text(length: number, alphabet: string): string {
    return Array.from({ length }, () => alphabet[Math.floor(this.next() * alphabet.length)]).join('')
  }
}
