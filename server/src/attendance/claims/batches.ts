interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Writes to the database in batches: items that are added while a write runs go into the next write. Under load one
 * transaction writes about ten claims; without load an item is written at once.
 *
 * @example
 * const accepted = new Batches((claims: readonly AcceptedClaim[]) => acceptClaims(db, claims, clock.nowMs()))
 * await accepted.add(claim)
 */
export class Batches<Item, Result> {
  private readonly writeAll: (items: readonly Item[]) => Promise<readonly Result[]>
  private waiting: Waiting<Item, Result>[] = []
  private isWriting = false

  /** @param writeAll resolves with one result for each item, in the same order */
  constructor(writeAll: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.writeAll = writeAll
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
      const batch = this.waiting.splice(0)
      try {
        const results = await this.writeAll(batch.map(({ item }) => item))
        for (const [i, { resolve }] of batch.entries()) resolve(results[i]!)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.isWriting = false
  }
}
