/** How many wait for one thing; about 200 bytes each. */
const MAX_WAITING = 100
/** How many of them may come from one network address. */
const MAX_OF_ADDRESS = 3

interface Waiting {
  readonly from: string | undefined
  readonly goOn: () => void
}

/**
 * Requests that wait for the same thing and then go on in a random order, so that the fastest client has no advantage.
 *
 * @example
 * await queue.wait('90001 paid', '203.0.113.7', 250) // true, after a quarter of a second
 */
export class RandomQueue {
  private readonly waiting = new Map<string, Waiting[]>()
  private readonly random: () => number

  /** @param random a number from 0 to below 1 */
  constructor(random: () => number = Math.random) {
    this.random = random
  }

  isWaiting(key: string): boolean {
    return this.waiting.has(key)
  }

  /**
   * @param from the network address of the client
   * @param forMs milliseconds; the first that waits decides for all of them
   * @returns after the wait, or false at once where too many wait: in all, or from this address
   */
  wait(key: string, from: string | undefined, forMs: number): Promise<boolean> {
    const waiting = this.waiting.get(key) ?? []
    const ofAddress = from === undefined ? 0 : waiting.filter((one) => one.from === from).length
    if (waiting.length >= MAX_WAITING || ofAddress >= MAX_OF_ADDRESS) return Promise.resolve(false)
    if (waiting.length === 0) {
      this.waiting.set(key, waiting)
      setTimeout(() => this.end(key), forMs)
    }
    return new Promise((resolve) => waiting.push({ from, goOn: () => resolve(true) }))
  }

  private end(key: string): void {
    const waiting = this.waiting.get(key) ?? []
    this.waiting.delete(key)
    while (waiting.length > 0) {
      const [next] = waiting.splice(Math.floor(this.random() * waiting.length), 1)
      next?.goOn()
    }
  }
}
