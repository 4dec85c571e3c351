import { SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { type EventName, eventNotFound } from './event-name.ts'
import { type Event, findEvent } from './event-queries.ts'

/** How long an event that another process has changed may still be claimed as it was. */
const KEPT_MS = SECOND_MS
/** A few kilobytes each. */
const MAX_EVENTS = 1_000

/**
 * Events as claims need them: a crowd claims the same one a hundred times a second. What this process changes is
 * forgotten at once, what others change after a second. The time here is that of the process, not that of the world.
 */
export class EventCache {
  private readonly db: Db
  private readonly events = new Map<string, { readonly event: Event; readonly untilMs: number }>()
  constructor(db: Db) {
    this.db = db
  }

  /** @throws {AppError} `event_not_found` */
  async get(name: EventName): Promise<Event> {
    const key = 'uuid' in name ? name.uuid : String(name.eventId)
    const kept = this.events.get(key)
    if (kept && performance.now() < kept.untilMs) return kept.event
    const event = await findEvent(this.db, name)
    this.events.delete(key)
    if (!event) throw eventNotFound(name)
    if (this.events.size >= MAX_EVENTS) this.events.delete(this.events.keys().next().value ?? '')
    this.events.set(key, { event, untilMs: performance.now() + KEPT_MS })
    return event
  }

  forget({ event_id, uuid }: Event): void {
    this.events.delete(String(event_id))
    this.events.delete(uuid)
  }
}
