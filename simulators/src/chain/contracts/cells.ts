/** One value of a cell, from a block on. Undefined: nothing is stored. */
interface Version<V> {
  readonly block: number
  readonly value: V | undefined
}

interface Step {
  undo(): void
}

/** States of this many blocks below the newest one can be read, and undone, where nothing else is said. */
export const KEPT_STATES = 20_000
/** Old steps are dropped when there are this many blocks more than needed, not at every block. */
const SLACK_BLOCKS = 1_000

/**
 * What the contracts have stored, block by block: any of the last {@link KEPT_STATES} blocks can be read, and the newest
 * blocks can be undone. It keeps one step for each change, so undoing costs as much as the changes did.
 */
export class StateHistory {
  /** Number of the block whose transactions run, or ran last. */
  block: number
  /** All mappings of the contracts, in the order in which these were made. */
  readonly cells: Cells<unknown>[] = []
  private readonly first: number
  private readonly kept: number
  /** Undoing goes no further than to this block. */
  private oldest: number
  private steps: Step[] = []
  /** How many steps there were when each block began: `starts[block - oldest - 1]`. */
  private starts: number[] = []

  /**
   * @param first the block before the first transaction
   * @param kept states of this many blocks below the newest one can be read, and undone
   */
  constructor(first = 0, kept = KEPT_STATES) {
    this.first = first
    this.block = first
    this.oldest = first
    this.kept = kept
  }

  /** The next block's transactions run from here on. */
  beginBlock(): void {
    this.block += 1
    this.starts.push(this.steps.length)
    if (this.block - this.oldest > this.kept + SLACK_BLOCKS) this.forgetOldSteps()
  }

  /** A point inside of a block, for {@link undoToMark}. */
  mark(): number {
    return this.steps.length
  }

  /** Undoes what was stored since the mark: a transaction that fails. */
  undoToMark(mark: number): void {
    while (this.steps.length > mark) this.steps.pop()!.undo()
  }

  /** Makes the state of an earlier block the newest one. @throws RangeError when it is not kept any more */
  undoToBlock(block: number): void {
    if (block < this.oldest) throw new RangeError(`blocks below ${this.oldest + 1} cannot be undone`)
    if (block >= this.block) return
    this.undoToMark(this.starts[block - this.oldest]!)
    this.starts.length = block - this.oldest
    this.block = block
  }

  remember(step: Step): void {
    this.steps.push(step)
  }

  /** The oldest block whose state can be read. */
  get oldestReadable(): number {
    return Math.max(this.first, this.block - this.kept)
  }

  private forgetOldSteps(): void {
    const dropped = this.block - this.kept - this.oldest
    const first = this.starts[dropped]!
    this.steps = this.steps.slice(first)
    this.starts = this.starts.slice(dropped).map((start) => start - first)
    this.oldest += dropped
  }
}

/**
 * A mapping of a contract: key to value, with the values of earlier blocks.
 *
 * @example
 * const owners = new Cells<string>(history)
 * owners.set('1', 'ann')
 * owners.get('1') // 'ann'
 * owners.get('1', 0) // undefined: the value after block 0
 */
export class Cells<V> {
  private readonly versions = new Map<string, Version<V>[]>()
  /** Every key that was ever set, in the order of first use, for drawing one at random. */
  readonly keys: string[] = []
  private readonly history: StateHistory

  constructor(history: StateHistory) {
    this.history = history
    history.cells.push(this as Cells<unknown>)
  }

  /** Stores what is there before the first transaction: it cannot be undone. */
  load(key: string, value: V): void {
    this.versionsOf(key).splice(0, Number.POSITIVE_INFINITY, { block: this.history.block, value })
  }

  /** The value after block `at`, or the newest one. */
  get(key: string, at = Number.POSITIVE_INFINITY): V | undefined {
    const versions = this.versions.get(key)
    if (!versions) return undefined
    for (let i = versions.length - 1; i >= 0; i--) {
      const version = versions[i]!
      if (version.block <= at) return version.value
    }
    return undefined
  }

  /** @param value undefined deletes it */
  set(key: string, value: V | undefined): void {
    const versions = this.versionsOf(key)
    const { block } = this.history
    const last = versions.at(-1)
    if (last?.block === block) {
      versions.splice(-1, 1, { block, value })
      this.history.remember({ undo: () => void versions.splice(-1, 1, last) })
    } else {
      versions.push({ block, value })
      this.history.remember({ undo: () => void versions.pop() })
      // The version before the oldest readable block is still needed: it is the value at that block.
      while (versions.length > 2 && versions[1]!.block < this.history.oldestReadable - SLACK_BLOCKS) {
        versions.shift()
      }
    }
  }

  /** All that is stored after block `at`, in the order of first use. */
  *entries(at?: number): Generator<readonly [string, V]> {
    for (const key of this.keys) {
      const value = this.get(key, at)
      if (value !== undefined) yield [key, value]
    }
  }

  /** Visits all that is stored now. */
  forEach(visit: (key: string, value: V) => void): void {
    for (const [key, versions] of this.versions) {
      const value = versions.at(-1)?.value
      if (value !== undefined) visit(key, value)
    }
  }

  private versionsOf(key: string): Version<V>[] {
    let versions = this.versions.get(key)
    if (!versions) {
      versions = []
      this.versions.set(key, versions)
      this.keys.push(key)
    }
    return versions
  }
}
