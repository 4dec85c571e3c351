import { SECOND_MS } from '../clock.ts'
import { RecentFigure } from './recent-figure.ts'

const MAX_AGE_MS = SECOND_MS
/** Health checks read it too: they answer also while the database hangs. */
const WAIT_MS = SECOND_MS / 4

/** A status in the database that many clients ask for: one query at a time, and at most one in a second. */
export abstract class RecentStatus<T> {
  private pending: Promise<T> | undefined
  private last: { readonly status: T; readonly atMs: number } | undefined
  private readonly figure = new RecentFigure(() => this.read(), { maxAgeMs: 0, waitMs: WAIT_MS })

  protected abstract readNow(): Promise<T>

  /** Asked for at most a second ago. @throws what the query throws: a failure is not cached */
  readonly read = async (): Promise<T> => {
    const { last } = this
    if (last && performance.now() - last.atMs < MAX_AGE_MS) return last.status
    // While the database hangs, no further connection waits for it.
    this.pending ??= this.readAndKeep().finally(() => {
      this.pending = undefined
    })
    return this.pending
  }

  /** {@link read}, or what was read last where the database does not answer soon; undefined before the first time. */
  async recent(): Promise<T | undefined> {
    return (await this.figure.read()) ?? this.last?.status
  }

  private async readAndKeep(): Promise<T> {
    const atMs = performance.now()
    const status = await this.readNow()
    this.last = { status, atMs }
    return status
  }
}
