import { SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { type CodeCounts, countCodes } from './event-queries.ts'

/** How old the counts may be that a booth is shown. */
const KEPT_MS = SECOND_MS
const MAX_EVENTS = 1_000

/**
 * How many codes of an event are in which state. A plaza of booths asks for it again and again, and counting 50,000
 * codes takes the database some milliseconds each time: those who ask in the same second get the same answer, and
 * those who ask while it is counted wait for it together. A claim of this process is seen at once, one of another after
 * a second.
 */
export class CodeCountCache {
  private readonly db: Db
  private readonly counts = new Map<
    number,
    { readonly counted: Promise<CodeCounts>; readonly untilMs: number }
  >()
  constructor(db: Db) {
    this.db = db
  }

  get(eventId: number): Promise<CodeCounts> {
    const kept = this.counts.get(eventId)
    if (kept && performance.now() < kept.untilMs) return kept.counted
    this.forget(eventId)
    if (this.counts.size >= MAX_EVENTS) this.forget(this.counts.keys().next().value ?? 0)
    const counted = countCodes(this.db, eventId)
    this.counts.set(eventId, { counted, untilMs: performance.now() + KEPT_MS })
    counted.catch(() => this.forget(eventId)) // the next one asks again
    return counted
  }

  /** For those who must see what has just happened. */
  forget(eventId: number): void {
    this.counts.delete(eventId)
  }
}
