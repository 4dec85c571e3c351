import type { Db } from '../../db/engine.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import { type CodeCounts, countCodes, wasRefused } from './event-queries.ts'

/**
 * Caches for one second how many codes of an event are in each state, and whether the operator has refused it, because
 * booths request both often.
 */
export class CodeCountCache {
  private readonly db: Db
  private readonly counts = new OneSecondCache<CodeCounts>()
  private readonly refused = new OneSecondCache<boolean>()
  constructor(db: Db) {
    this.db = db
  }

  get(eventId: number): Promise<CodeCounts> {
    return this.counts.get(String(eventId), () => countCodes(this.db, eventId))
  }

  /**
   * Whether the operator has refused an event. A refused one has no free code, so only such an event is looked up.
   *
   * @param counts of the event
   */
  async isRefused(eventId: number, counts: Pick<CodeCounts, 'free'>): Promise<boolean> {
    if (!isOwnEvent(eventId) || counts.free > 0) return false
    return this.refused.get(String(eventId), () => wasRefused(this.db, eventId))
  }

  forget(eventId: number): void {
    this.counts.forget(String(eventId))
    this.refused.forget(String(eventId))
  }
}
