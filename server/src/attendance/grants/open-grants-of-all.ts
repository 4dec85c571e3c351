import { SECOND_MS, withTimeLimit } from '../../clock.ts'

export interface OpenGrantsOfAllOptions {
  /** Counts them in the database. It may stop at the limit. */
  readonly count: () => Promise<number>
  /** How old a count may be, and when one that failed is tried again. */
  readonly maxAgeMs: number
  /** For so long grants wait for a new count, from its beginning, where an old one is known. */
  readonly waitMs?: number
  /** A monotonic clock, in milliseconds. */
  readonly time?: () => number
}

const WAIT_MS = SECOND_MS
/** After a first count that failed: until another is tried, all grants are refused. */
const FIRST_RETRY_MS = 5 * SECOND_MS

/**
 * How many open grants all events have: counted in the database once in a while, plus what this process has stored since.
 * A count that fails or takes long changes nothing: the one before is used further. Without any, grants wait.
 */
export class OpenGrantsOfAll {
  private readonly options: Required<OpenGrantsOfAllOptions>
  private counted: number | undefined
  /** Stored since the count began, and being stored. */
  private stored = 0
  private storing = 0
  private freshUntilMs = Number.NEGATIVE_INFINITY
  private waitUntilMs = Number.NEGATIVE_INFINITY
  private failure: { readonly error: unknown; readonly untilMs: number } | undefined
  private counting: Promise<void> | undefined

  constructor(options: OpenGrantsOfAllOptions) {
    this.options = { waitMs: WAIT_MS, time: () => performance.now(), ...options }
  }

  /** Counts where it is time to. @throws what the count throws, where there is none yet */
  async refresh(): Promise<void> {
    const nowMs = this.options.time()
    const hasFailed = this.failure !== undefined && nowMs < this.failure.untilMs
    if (nowMs >= this.freshUntilMs && !hasFailed) this.counting ??= this.countNow()
    const leftMs = this.waitUntilMs - nowMs
    if (this.counting && this.counted === undefined) await this.counting
    else if (this.counting && leftMs > 0) await withTimeLimit(this.counting, leftMs, () => undefined)
    if (this.counted === undefined) throw this.failure?.error
  }

  /** How many there are, as far as known; call {@link refresh} before. */
  get size(): number {
    return (this.counted ?? 0) + this.stored + this.storing
  }

  /** Stores a grant; it counts while it is being stored, and afterwards if `isStored` says so. */
  async add<T>(store: () => Promise<T>, isStored: (result: T) => boolean): Promise<T> {
    this.storing += 1
    try {
      const result = await store()
      if (isStored(result)) this.stored += 1
      return result
    } finally {
      this.storing -= 1
    }
  }

  /** Many were withdrawn: they are counted again for the next grant. A count may have stopped at the limit, so none is subtracted. */
  forget(): void {
    this.freshUntilMs = Number.NEGATIVE_INFINITY
  }

  private async countNow(): Promise<void> {
    const { count, maxAgeMs, waitMs, time } = this.options
    const storedBefore = this.stored
    // A withdrawal from now on makes this count old before its time
    this.freshUntilMs = time() + maxAgeMs
    this.waitUntilMs = time() + waitMs
    try {
      this.counted = await count()
      this.stored -= storedBefore
      this.failure = undefined
    } catch (error) {
      const retryMs = this.counted === undefined ? FIRST_RETRY_MS : maxAgeMs
      this.freshUntilMs = Number.NEGATIVE_INFINITY
      this.failure = { error, untilMs: time() + retryMs }
    } finally {
      this.counting = undefined
    }
  }
}
