interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Items of one write: more would make the event loop wait longer for what follows it than they save. */
const MOST = 50

/**
 * Writes to the database in batches: items that are added while a write runs go into the next write. Under load one
 * transaction writes ten to fifty claims; without load an item is written at once.
 *
 * @example
 * const accepted = new Batches((claims: readonly AcceptedClaim[]) => acceptClaims(db, claims, clock.nowMs()))
 * await accepted.add(claim)
 */
export class Batches<Item, Result> {
  private readonly writeAll: (items: readonly Item[]) => Promise<readonly Result[]>
  private waiting: Waiting<Item, Result>[] = []
  private isWriting = false
  private readonly keyOf: ((item: Item) => unknown) | undefined

  /**
   * @param writeAll resolves with one result for each item, in the same order
   * @param keyOf what items of one write must not have in common: a second item with a key waits for the next write
   */
  constructor(
    writeAll: (items: readonly Item[]) => Promise<readonly Result[]>,
    keyOf?: (item: Item) => unknown,
  ) {
    this.writeAll = writeAll
    this.keyOf = keyOf
  }

  /** Whether nothing is being written, and nothing waits. */
  get isIdle(): boolean {
    return !this.isWriting
  }

  /** Resolves when the item is written. @throws when its batch fails */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject })
      if (!this.isWriting) void this.write()
    })
  }

  private async write(): Promise<void> {
    this.isWriting = true
    while (this.waiting.length > 0) {
      const batch = this.takeBatch()
      try {
        const results = await this.writeAll(batch.map(({ item }) => item))
        for (const [i, { resolve }] of batch.entries()) resolve(results[i]!)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.isWriting = false
  }

  /** The next items, in their order. */
  private takeBatch(): readonly Waiting<Item, Result>[] {
    const { keyOf } = this
    if (!keyOf) return this.waiting.splice(0, MOST)
    const batch = new Map<unknown, Waiting<Item, Result>>()
    const later: Waiting<Item, Result>[] = []
    for (const waiting of this.waiting) {
      const key = keyOf(waiting.item)
      if (batch.size < MOST && !batch.has(key)) batch.set(key, waiting)
      else later.push(waiting)
    }
    this.waiting = later
    return [...batch.values()]
  }
}
