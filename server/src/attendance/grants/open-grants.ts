import { type Clock, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { OneSecondCache } from '../one-second-cache.ts'
import { RecentFigure } from '../recent-figure.ts'
import { countAllOpenGrants, countOpenGrants, type Stored } from './grant-queries.ts'

export interface OpenGrantsOptions {
  readonly db: Db
  readonly clock: Clock
  /** Open grants of an event at a time. */
  readonly maxOpen: number
  /** Open grants of all events at a time. */
  readonly maxOpenOfAll: number
}

/** Counting a million takes 0.3 s, on the embedded engine a second. What other processes add meanwhile is beyond the limit. */
const COUNT_ALL_EVERY_MS = 30 * SECOND_MS

interface Counted {
  count: number
}

/** Bounds the number of open grants: of each event, and of all events, so that many events cannot fill the database. */
export class OpenGrants {
  private readonly options: OpenGrantsOptions
  /** Of each event: counted in the last second, and the ones that this process has added since. */
  private readonly ofEvents = new OneSecondCache<Counted>()
  private readonly ofAll: RecentFigure<Counted>

  constructor(options: OpenGrantsOptions) {
    this.options = options
    const { db, clock } = options
    const count = async () => ({ count: await countAllOpenGrants(db, clock.nowMs()) })
    this.ofAll = new RecentFigure(count, { maxAgeMs: COUNT_ALL_EVERY_MS })
  }

  /** @throws {AppError} `too_many_grants`, or what `store` throws */
  async store(eventId: number, store: () => Promise<Stored>): Promise<Stored> {
    const { db, clock, maxOpen, maxOpenOfAll } = this.options
    const ofEvent = await this.ofEvents.get(String(eventId), async () => ({
      count: await countOpenGrants(db, eventId, clock.nowMs()),
    }))
    // Unknown while the database is slow: then `store` says what is wrong, or does it
    const ofAll = (await this.ofAll.read()) ?? { count: 0 }
    if (ofEvent.count >= maxOpen) throw eventIsFull(maxOpen)
    if (ofAll.count >= maxOpenOfAll) throw serverIsFull(maxOpenOfAll)
    ofEvent.count += 1
    ofAll.count += 1
    let stored: Stored | undefined
    try {
      stored = await store()
    } finally {
      if (stored !== 'stored') {
        ofEvent.count -= 1
        ofAll.count -= 1
      }
    }
    return stored
  }

  /** The open grants of an event were withdrawn. */
  forget(eventId: number): void {
    this.ofEvents.forget(String(eventId))
  }
}

function eventIsFull(max: number): AppError {
  return new AppError(
    'too_many_grants',
    `This event has ${max} grants that nobody has used yet. Wait until some are used or expire.`,
    { limit: 'event' },
  )
}

function serverIsFull(max: number): AppError {
  return new AppError(
    'too_many_grants',
    `The events of this server have ${max} grants that nobody has used yet. Wait until some are used or expire, or ask the operator of the server.`,
    { limit: 'server' },
  )
}
