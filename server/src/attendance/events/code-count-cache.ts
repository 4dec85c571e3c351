import type { Db } from '../../db/engine.ts'
import { OneSecondCache } from '../one-second-cache.ts'
import { type CodeCounts, countCodes } from './event-queries.ts'

/**
 * Caches for one second how many codes of an event are in each state, because booths request the counts often.
 */
export class CodeCountCache {
  private readonly db: Db
  private readonly counts = new OneSecondCache<CodeCounts>()
  constructor(db: Db) {
    this.db = db
  }

  get(eventId: number): Promise<CodeCounts> {
    return this.counts.get(String(eventId), () => countCodes(this.db, eventId))
  }

  forget(eventId: number): void {
    this.counts.forget(String(eventId))
  }
}
