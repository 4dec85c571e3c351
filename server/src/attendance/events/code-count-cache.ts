import type { Db } from '../../db/engine.ts'
import { OneSecondCache } from '../one-second-cache.ts'
import { type CodeCounts, countCodes } from './event-queries.ts'

/**
 * How many codes of an event are in which state. A plaza of booths asks for it again and again, and counting 50,000
 * codes takes the database some milliseconds each time.
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
