interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Items of one write: more would make the event loop wait longer for what follows it than they save. */
const MOST = 50
/** Items that wait before another write begins beside those that run. */
const ENOUGH = 12

export interface BatchesOptions<Item> {
  /** What items of one write must not have in common: a second item with it waits for another write. */
  readonly distinctBy?: ((item: Item) => unknown) | undefined
  /**
   * Writes that run at the same time; one if left out. More than one lets the writer work while this process still makes
   * items: it helps where the writer does several at once, or takes the next one from a queue.
   */
  readonly atOnce?: number | undefined
}

/**
 * Writes in batches to what takes as long for many items as for few: items that are added while a write runs go into the
 * next write. Under load one transaction writes ten to fifty claims; without load an item is written at once.
 *
 * @example
 * const doubled = new Batches(async (numbers: readonly number[]) => numbers.map((n) => 2 * n))
 * await doubled.add(21) // 42
 */
export class Batches<Item, Result> {
  private readonly writeAll: (items: readonly Item[]) => Promise<readonly Result[]>
  private readonly distinctBy: ((item: Item) => unknown) | undefined
  private readonly atOnce: number
  private waiting: Waiting<Item, Result>[] = []
  private running = 0

  /** @param writeAll resolves with one result for each item, in the same order */
  constructor(
    writeAll: (items: readonly Item[]) => Promise<readonly Result[]>,
    { distinctBy, atOnce = 1 }: BatchesOptions<Item> = {},
  ) {
    this.writeAll = writeAll
    this.distinctBy = distinctBy
    this.atOnce = atOnce
  }

  /** Whether nothing is being written, and nothing waits. */
  get isIdle(): boolean {
    return this.running === 0
  }

  /** Resolves when the item is written. @throws when its batch fails */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject })
      this.begin()
    })
  }

  private begin(): void {
    while (
      this.waiting.length > 0 &&
      (this.running === 0 || (this.running < this.atOnce && this.waiting.length >= ENOUGH))
    )
      void this.write(this.takeBatch())
  }

  private async write(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    this.running += 1
    try {
      const results = await this.writeAll(batch.map(({ item }) => item))
      for (const [i, { resolve }] of batch.entries()) resolve(results[i]!)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.running -= 1
    this.begin()
  }

  /** The next items, in their order. */
  private takeBatch(): readonly Waiting<Item, Result>[] {
    const { distinctBy } = this
    if (!distinctBy) return this.waiting.splice(0, MOST)
    const batch = new Map<unknown, Waiting<Item, Result>>()
    const later: Waiting<Item, Result>[] = []
    for (const waiting of this.waiting) {
      const key = distinctBy(waiting.item)
      if (batch.size < MOST && !batch.has(key)) batch.set(key, waiting)
      else later.push(waiting)
    }
    this.waiting = later
    return [...batch.values()]
  }
}

/** {@link Batches} of each key: items of one write have the same, so a database of several machines executes it on one of them. */
export class BatchesByKey<Item, Result> {
  private readonly keyOf: (item: Item) => unknown
  private readonly writeAll: (items: readonly Item[]) => Promise<readonly Result[]>
  private readonly options: BatchesOptions<Item>
  private readonly ofKeys = new Map<unknown, Batches<Item, Result>>()

  /** @param writeAll gets items of one key */
  constructor(
    keyOf: (item: Item) => unknown,
    writeAll: (items: readonly Item[]) => Promise<readonly Result[]>,
    options: BatchesOptions<Item> = {},
  ) {
    this.keyOf = keyOf
    this.writeAll = writeAll
    this.options = options
  }

  /** See {@link Batches.add}. */
  async add(item: Item): Promise<Result> {
    const key = this.keyOf(item)
    const batches = this.ofKeys.get(key) ?? new Batches(this.writeAll, this.options)
    this.ofKeys.set(key, batches)
    try {
      return await batches.add(item)
    } finally {
      if (batches.isIdle && this.ofKeys.get(key) === batches) this.ofKeys.delete(key)
    }
  }
}

/** The items of each key, in their order. */
export function byKey<Item, Key>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const ofKeys = new Map<Key, Item[]>()
  for (const item of items) {
    const ofKey = ofKeys.get(keyOf(item)) ?? []
    ofKeys.set(keyOf(item), ofKey)
    ofKey.push(item)
  }
  return ofKeys
}
