import { SECOND_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import type { Stored } from './grant-queries.ts'
import { OpenGrantsOfAll } from './open-grants-of-all.ts'

export interface OpenGrantsOptions {
  /** Open grants of an event at a time. */
  readonly maxOpen: number
  /** Open grants of all events at a time. */
  readonly maxOpenOfAll: number
  /** Both count in the database. */
  readonly countOf: (eventId: number) => Promise<number>
  readonly countAll: () => Promise<number>
}

/** Counting a million takes 0.3 s, on the embedded engine a second. What other processes add meanwhile is beyond the limit. */
const COUNT_ALL_EVERY_MS = 30 * SECOND_MS

interface Counted {
  count: number
}

/** Bounds the number of open grants: of each event, and of all events, so that many events cannot fill the database. */
export class OpenGrants {
  private readonly options: OpenGrantsOptions
  /** Open grants of each event: counted in the last second, and the ones that this process has added since. */
  private readonly ofEvents = new OneSecondCache<Counted>()
  private readonly ofAll: OpenGrantsOfAll

  constructor(options: OpenGrantsOptions) {
    this.options = options
    this.ofAll = new OpenGrantsOfAll({ count: options.countAll, maxAgeMs: COUNT_ALL_EVERY_MS })
  }

  /** @throws {AppError} `too_many_grants`, or what a count or `store` throws */
  async store(eventId: number, store: () => Promise<Stored>): Promise<Stored> {
    const { maxOpen, maxOpenOfAll, countOf } = this.options
    // First, as it may take long: the count of the event would be another one afterwards
    await this.ofAll.refresh()
    const ofEvent = await this.ofEvents.get(String(eventId), async () => ({ count: await countOf(eventId) }))
    if (ofEvent.count >= maxOpen) throw eventIsFull(maxOpen)
    if (this.ofAll.size >= maxOpenOfAll) throw serverIsFull(maxOpenOfAll)
    ofEvent.count += 1
    let stored: Stored | undefined
    try {
      stored = await this.ofAll.add(store, (result) => result === 'stored')
    } finally {
      if (stored !== 'stored') ofEvent.count -= 1
    }
    return stored
  }

  /** The open grants of an event were withdrawn. */
  forget(eventId: number): void {
    this.ofEvents.forget(String(eventId))
    this.ofAll.forget()
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
