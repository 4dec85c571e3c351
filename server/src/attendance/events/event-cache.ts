import type { Db } from '../../db/engine.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import type { EventName } from './event-name.ts'
import { type Event, getEvent } from './event-queries.ts'

/** Caches events for one second, for claims and availability. */
export class EventCache {
  private readonly db: Db
  private readonly events = new OneSecondCache<Event>()
  constructor(db: Db) {
    this.db = db
  }

  /** @throws {AppError} `event_not_found` */
  get(name: EventName): Promise<Event> {
    const key = 'uuid' in name ? name.uuid : String(name.eventId)
    return this.events.get(key, () => getEvent(this.db, name))
  }

  forget({ event_id, uuid }: Event): void {
    this.events.forget(String(event_id))
    this.events.forget(uuid)
  }
}
