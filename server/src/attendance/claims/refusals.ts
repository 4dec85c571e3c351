import { type Clock, HOUR_MS, SECOND_MS } from '../../clock.ts'
import { unlessWorkerLost } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { isDatabaseRefusal } from '../../db/statement-error.ts'
import { byKey } from '../../work/batches.ts'
import { addRefusals, type RefusalCount } from './refusal-queries.ts'

/** For so long a call writes event by event while a worker is down: other work in the background waits for it. */
const SINGLY_MS = 2 * SECOND_MS

/**
 * Counts refused claims for the organiser's report, in memory, and writes the counts every few seconds. When an event
 * has no codes left, thousands of claims are refused in a minute: a write for each would be too slow.
 */
export class Refusals {
  private readonly db: Db
  private readonly clock: Clock
  private counts = new Map<string, RefusalCount>()
  /** Events whose counts could not be written when each was tried alone: then they come last. */
  private readonly failed = new Set<number>()
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
   * table. Counts that cannot be written are added to the next call. Where they cannot be written together, each event is tried alone,
   * as many as there is time for: a worker of a database of several servers may be down or full.
   *
   * @throws what failed, where those of no event could be written
   */
  flush(): Promise<void> {
    const flushed = this.flushing.then(() => this.write())
    this.flushing = flushed.catch(() => {})
    return flushed
  }

  private async write(): Promise<void> {
    if (this.counts.size === 0) return
    const counts = [...this.counts.values()]
    this.counts = new Map()
    let failure: unknown
    try {
      const isWritten = await unlessWorkerLost(this.db, async () => {
        await addRefusals(this.db, counts)
        return true
      })
      if (isWritten) return
    } catch (error) {
      if (!isDatabaseRefusal(error)) {
        this.addAll(counts)
        throw error
      }
      failure = error
    }
    const isWrittenInPart = await this.writeSingly(counts)
    if (failure && !isWrittenInPart) throw failure
  }

  /** @returns whether those of any event could be written */
  private async writeSingly(all: readonly RefusalCount[]): Promise<boolean> {
    const endMs = performance.now() + SINGLY_MS
    const hasFailed = (eventId: number) => Number(this.failed.has(eventId))
    const events = [...byKey(all, ({ eventId }) => eventId)].sort(([a], [b]) => hasFailed(a) - hasFailed(b))
    const faults: unknown[] = []
    let isWrittenInPart = false
    for (const [eventId, counts] of events) {
      try {
        if (performance.now() > endMs) this.addAll(counts)
        else {
          await addRefusals(this.db, counts)
          this.failed.delete(eventId)
          isWrittenInPart = true
        }
      } catch (error) {
        this.addAll(counts)
        this.failed.add(eventId)
        if (!isDatabaseRefusal(error)) faults.push(error)
      }
    }
    if (faults.length > 0) throw faults[0]
    return isWrittenInPart
  }

  private addAll(counts: readonly RefusalCount[]): void {
    for (const counted of counts) {
      const name = `${counted.eventId} ${counted.hourMs} ${counted.code}`
      const since = this.counts.get(name)?.count ?? 0
      this.counts.set(name, { ...counted, count: counted.count + since })
    }
  }
}
