import { hexOf } from '../encoding/words.ts'
import { SeededRandom } from './seeded-random.ts'

/** Random choices: the same for the same seed on every machine. */
export class Dice {
  private readonly random: SeededRandom

  /** @param parts whole numbers; another one of them gives other choices */
  constructor(...parts: readonly number[]) {
    // Each part is mixed well before the next one, so that neighbouring blocks have nothing in common.
    this.random = new SeededRandom(
      parts.reduce((seed, part) => Math.floor(new SeededRandom(seed ^ part).next() * 2 ** 32), 0x2545f491),
    )
  }

  chance(share: number): boolean {
    return this.random.next() < share
  }

  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.random.next() * (max - min + 1))
  }

  /** @throws RangeError for an empty list */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('nothing to pick from')
    return list[Math.floor(this.random.next() * list.length)]!
  }

  /** The first pick that `find` makes something of; undefined if none of `tries` picks will do. */
  find<T, R>(list: readonly T[], find: (one: T) => R | undefined, tries = 12): R | undefined {
    for (let i = 0; list.length > 0 && i < tries; i++) {
      const found = find(this.pick(list))
      if (found !== undefined) return found
    }
    return undefined
  }

  /** A number of events whose average is `average`. */
  count(average: number): number {
    const whole = Math.floor(average)
    return this.whole(0, 2 * whole) + (this.chance(average - whole) ? 1 : 0)
  }

  bytes(length: number): string {
    return hexOf(Uint8Array.from({ length }, () => this.whole(0, 255)))
  }

  shuffle<T>(list: readonly T[]): T[] {
    const shuffled = [...list]
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = this.whole(0, i)
      const [a, b] = [shuffled[i]!, shuffled[j]!]
      shuffled[i] = b
      shuffled[j] = a
    }
    return shuffled
  }
}
