import { type Clock, HOUR_MS } from '../../clock.ts'
import { isWorkerLost } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { byEvent } from '../../work/batches.ts'
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
    this.addAll([{ eventId, hourMs, code, count: 1 }])
  }

  /**
   * Writes the counts since the last call, after a call that is still running: then all counts of before are in the
   * table. Counts that cannot be written are added to the next call. While workers of a database of several servers are down, that
   * is no failure: each event is then tried alone.
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
    const all = [...taken.values()]
    try {
      await addRefusals(this.db, all)
    } catch (error) {
      if (!(await isWorkerLost(this.db, error).catch(() => false))) {
        this.addAll(all)
        throw error
      }
      for (const counts of byEvent(all, ({ eventId }) => eventId).values())
        await addRefusals(this.db, counts).catch(() => this.addAll(counts))
    }
  }

  private addAll(counts: readonly RefusalCount[]): void {
    for (const counted of counts) {
      const name = `${counted.eventId} ${counted.hourMs} ${counted.code}`
      const since = this.counts.get(name)?.count ?? 0
      this.counts.set(name, { ...counted, count: counted.count + since })
    }
  }
}
