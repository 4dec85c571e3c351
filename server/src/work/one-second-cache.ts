import { SECOND_MS } from '../clock.ts'
import { ownText } from '../own-memory.ts'

const MAX_AGE_MS = SECOND_MS
const MAX_ENTRIES = 1_000

/**
 * Caches results of database queries for one second, by name. Requests for the same name share one query, also while
 * it runs. The process calls {@link forget} after its own changes; changes of other processes show after a second.
 * Entries expire by the monotonic clock of the process, not by the server's `Clock`.
 *
 * @example
 * const event = await events.get('90001', () => readEvent(90001))
 */
export class OneSecondCache<Value> {
  private readonly entries = new Map<string, { readonly value: Promise<Value>; readonly untilMs: number }>()

  /** @throws what `read` throws: a failure is not cached */
  get(name: string, read: () => Promise<Value>): Promise<Value> {
    const cached = this.entries.get(name)
    if (cached && performance.now() < cached.untilMs) return cached.value
    this.entries.delete(name)
    this.makeRoom()
    const value = read()
    this.entries.set(ownText(name), { value, untilMs: performance.now() + MAX_AGE_MS })
    value.catch(() => {
      if (this.entries.get(name)?.value === value) this.entries.delete(name)
    })
    return value
  }

  /** Drops what is older than a second, so that values of any size do not stay, and the oldest entry of a full cache. */
  private makeRoom(): void {
    const nowMs = performance.now()
    for (const [name, { untilMs }] of this.entries) {
      if (nowMs < untilMs && this.entries.size < MAX_ENTRIES) return
      this.entries.delete(name)
    }
  }

  /** How many results are cached. */
  get size(): number {
    return this.entries.size
  }

  /** Drops an entry, so that the next `get` reads the database. */
  forget(name: string): void {
    this.entries.delete(name)
  }
}
