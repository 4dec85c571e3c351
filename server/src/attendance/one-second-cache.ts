import { SECOND_MS } from '../clock.ts'

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
    if (this.entries.size >= MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value ?? '')
    const value = read()
    this.entries.set(name, { value, untilMs: performance.now() + MAX_AGE_MS })
    value.catch(() => {
      if (this.entries.get(name)?.value === value) this.entries.delete(name)
    })
    return value
  }

  /** Drops an entry, so that the next `get` reads the database. */
  forget(name: string): void {
    this.entries.delete(name)
  }
}
