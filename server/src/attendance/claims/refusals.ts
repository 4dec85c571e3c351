import { type Clock, HOUR_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { addRefusals, type RefusalCount } from './refusal-queries.ts'

/**
 * Counts refused claims for the organiser's report, in memory, and writes the counts every few seconds. When an event
 * has no codes left, thousands of claims are refused in a minute: a write for each would be too slow.
 */
export class Refusals {
  private readonly db: Db
  private readonly clock: Clock
  private counts = new Map<string, RefusalCount>()
  /** The last call of `flush`; never rejected. */
  private flushing: Promise<void> = Promise.resolve()
  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /** @param code an error code of errors.ts */
  add(eventId: number, code: string): void {
    const hourMs = Math.floor(this.clock.nowMs() / HOUR_MS) * HOUR_MS
    const name = `${eventId} ${hourMs} ${code}`
    const counted = this.counts.get(name)
    this.counts.set(name, { eventId, hourMs, code, count: (counted?.count ?? 0) + 1 })
  }

  /**
   * Writes the counts since the last call, after a call that is still running: then all counts of before are in the
   * table. Counts that cannot be written are added to the next call.
   */
  flush(): Promise<void> {
    const flushed = this.flushing.then(() => this.write())
    this.flushing = flushed.catch(() => {})
    return flushed
  }

  private async write(): Promise<void> {
    if (this.counts.size === 0) return
    const taken = this.counts
    this.counts = new Map()
    try {
      await addRefusals(this.db, [...taken.values()])
    } catch (error) {
      for (const [name, counted] of taken) {
        const since = this.counts.get(name)?.count ?? 0
        this.counts.set(name, { ...counted, count: counted.count + since })
      }
      throw error
    }
  }
}
