import { LRUCache } from 'lru-cache'

/**
 * A cache of the last few results of slow functions, by name. Callers that ask for a result while it is being made
 * share the promise. A failure is not cached.
 *
 * @example
 * const texts = new PromiseCache<string>(32)
 * await texts.get('a', () => readText('a'))
 */
export class PromiseCache<Result> {
  private readonly results: LRUCache<string, Promise<Result>>

  /** @param max the number of cached results; the least recently used one is dropped */
  constructor(max: number) {
    this.results = new LRUCache({ max })
  }

  /** The result if it is cached or is being made. */
  find(name: string): Promise<Result> | undefined {
    return this.results.get(name)
  }

  /** @throws what `make` throws */
  get(name: string, make: () => Promise<Result>): Promise<Result> {
    const known = this.find(name)
    if (known) return known
    const made = make()
    this.results.set(name, made)
    made.catch(() => {
      if (this.results.peek(name) === made) this.results.delete(name)
    })
    return made
  }
}
