import type { Db } from '../../../../db/engine.ts'
import { markAnswered } from './made-event-queries.ts'

export interface AnsweredEventsOptions {
  readonly db: Db
  readonly log: { warn(facts: object, sentence: string): void }
}

/** Stores of which new events the answer was sent, with their edit codes: all others end by themselves. */
export class AnsweredEvents {
  private readonly options: AnsweredEventsOptions
  private readonly unstored = new Set<number>()
  constructor(options: AnsweredEventsOptions) {
    this.options = options
  }

  /** The whole answer was handed to the operating system. Stores it at once; {@link flush} does where that fails. */
  sent(eventId: number): void {
    this.unstored.add(eventId)
    this.flush().catch((err) => this.options.log.warn({ err, event: eventId }, NOT_STORED))
  }

  /** Stores what is not stored yet. @throws what the database throws: then the next call tries it again */
  async flush(): Promise<void> {
    const eventIds = [...this.unstored]
    if (eventIds.length === 0) return
    await markAnswered(this.options.db, eventIds)
    for (const eventId of eventIds) this.unstored.delete(eventId)
  }
}

const NOT_STORED = 'that the answer of a new event was sent could not be stored; it will be tried again'
