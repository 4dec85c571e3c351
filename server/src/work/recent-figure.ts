import { SECOND_MS, withTimeLimit } from '../clock.ts'

export interface RecentFigureOptions {
  /** How old a figure may be, in milliseconds; 0: it is read each time. */
  readonly maxAgeMs: number
  /** How long to wait for a read, in milliseconds. */
  readonly waitMs?: number
}

/** A scrape waits for the slowest figure, and has time limits of its own, 10 s in Prometheus. */
const WAIT_MS = SECOND_MS

/**
 * A figure that is counted in the database. It is shared for some time, and while it is being read: `/metrics` may be
 * public, and some figures take a table scan.
 *
 * @example
 * const figure = new RecentFigure(() => countAllCodes(db), { maxAgeMs: 15_000 })
 * await figure.read() // undefined if the database is down
 */
export class RecentFigure<T> {
  private readonly count: () => Promise<T>
  private readonly maxAgeMs: number
  private readonly waitMs: number
  private known: { readonly value: T; readonly readAtMs: number } | undefined
  private reading: Promise<T | undefined> | undefined

  constructor(count: () => Promise<T>, { maxAgeMs, waitMs = WAIT_MS }: RecentFigureOptions) {
    this.count = count
    this.maxAgeMs = maxAgeMs
    this.waitMs = waitMs
  }

  /** @returns the last known figure if the database takes too long; undefined if there is none, or reading fails */
  async read(): Promise<T | undefined> {
    if (this.known && performance.now() - this.known.readAtMs < this.maxAgeMs) return this.known.value
    this.reading ??= this.readNow().finally(() => {
      this.reading = undefined
    })
    return withTimeLimit(this.reading, this.waitMs, () => this.known?.value)
  }

  private async readNow(): Promise<T | undefined> {
    const readAtMs = performance.now()
    try {
      this.known = { value: await this.count(), readAtMs }
    } catch {
      this.known = undefined
    }
    return this.known?.value
  }
}
