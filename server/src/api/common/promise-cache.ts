import { LRUCache } from 'lru-cache'

/**
 * The last few results that take a while, by name. Callers that ask for one while it is made share the work; a failure
 * is not kept.
 *
 * @example
 * const texts = new PromiseCache<string>(32)
 * await texts.get('a', () => readText('a'))
 */
export class PromiseCache<Result> {
  private readonly results: LRUCache<string, Promise<Result>>

  /** @param max how many results are kept: the one that was asked for longest ago goes first */
  constructor(max: number) {
    this.results = new LRUCache({ max })
  }

  /** @throws what `make` throws */
  get(name: string, make: () => Promise<Result>): Promise<Result> {
    const known = this.results.get(name)
    if (known) return known
    const made = make()
    this.results.set(name, made)
    made.catch(() => {
      if (this.results.peek(name) === made) this.results.delete(name)
    })
    return made
  }
}
