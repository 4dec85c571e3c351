import { type Clock, HOUR_MS } from '../clock.ts'
import type { Db } from '../db/engine.ts'
import { addRefusals, type RefusalCount } from './refusal-queries.ts'

/**
 * Counts refused claims for the organiser's report. Counted in memory and written every few seconds: when the codes
 * are gone, thousands are refused in a minute, and a row for each would cost more than the claims did.
 */
export class Refusals {
  private readonly db: Db
  private readonly clock: Clock
  private counts = new Map<string, RefusalCount>()
  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /** @param code of errors.ts */
  add(eventId: number, code: string): void {
    const hourMs = Math.floor(this.clock.nowMs() / HOUR_MS) * HOUR_MS
    const name = `${eventId} ${hourMs} ${code}`
    const counted = this.counts.get(name)
    this.counts.set(name, { eventId, hourMs, code, count: (counted?.count ?? 0) + 1 })
  }

  /** Writes what was counted since the last time. What cannot be written now is kept for the next time. */
  async flush(): Promise<void> {
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
