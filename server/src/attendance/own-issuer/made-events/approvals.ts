import { type Clock, HOUR_MS } from '../../../clock.ts'
import type { Db } from '../../../db/engine.ts'
import type { Approval } from '../../../db/schema.ts'
import { CodeLoader } from '../../codes/code-loader.ts'
import { CodeCountCache } from '../../events/code-count-cache.ts'
import { EventHolds } from '../../events/event-holds.ts'
import { type Event, getEvent } from '../../events/event-queries.ts'
import { notMadeHere } from '../../issuer/own-event-ids.ts'
import type { Vault } from '../../vault.ts'
import { deleteImage, findAnyImage, setApproval } from './made-event-queries.ts'
import { listOwnCodes } from './own-code-list.ts'
import { countWaiting, deleteAbandoned, type WaitingEvent, waitingEvents } from './waiting-event-queries.ts'

/** After so long an event that the operator has not answered for is deleted. */
const WAITING_MS = 30 * 24 * HOUR_MS
/** After so long an event is deleted whose maker got no answer, and whose edit code was not used since. */
const UNANSWERED_MS = 24 * HOUR_MS

/** A part of the events that wait for the operator. */
export interface WaitingPage {
  /** How many wait in all. */
  readonly total: number
  readonly events: readonly WaitingEvent[]
  /** The number after which the next page begins; undefined where this is the last one. */
  readonly next: number | undefined
}

export interface ApprovalsOptions {
  readonly clock: Clock
  readonly db: Db
  readonly codes: Pick<CodeLoader, 'load'>
}

/** The operator's answers to events that were made here. */
export class Approvals {
  private readonly options: ApprovalsOptions
  constructor(options: ApprovalsOptions) {
    this.options = options
  }

  /**
   * Answers for an event; an earlier answer can be changed. A refused event keeps the tokens that it has, and those of
   * claims that hold a code already; its other codes are void until it is approved again. The picture of an event
   * without tokens is deleted.
   *
   * @throws {AppError} `event_not_found` for an event that was not made here
   */
  async answer(event: Event, approval: Exclude<Approval, 'waiting'>): Promise<void> {
    const { db, codes } = this.options
    if (!(await setApproval(db, event.event_id, approval))) throw notMadeHere()
    await codes.load(event, '')
    if (approval === 'refused') await deleteImage(db, event.event_id)
  }

  /**
   * Events without an answer, the oldest first.
   *
   * @param page events with later numbers than `after`, and how many
   */
  async waiting({ after, limit }: { readonly after: number; readonly limit: number }): Promise<WaitingPage> {
    const { db, clock } = this.options
    const nowMs = clock.nowMs()
    const found = await waitingEvents(db, nowMs, { after, limit: limit + 1 })
    const events = found.slice(0, limit)
    const next = found.length > limit ? events.at(-1)!.event.event_id : undefined
    return { total: await countWaiting(db, nowMs), events, next }
  }

  /** The organiser's picture, as a PNG, before the event is approved too; undefined where there is none. */
  picture({ event_id: eventId }: Pick<Event, 'event_id'>): Promise<Buffer | undefined> {
    return findAnyImage(this.options.db, eventId)
  }

  /** Deletes events that have waited for too long, and those whose makers got no answer. */
  deleteOld(): Promise<void> {
    const nowMs = this.options.clock.nowMs()
    const before = { waitingBeforeMs: nowMs - WAITING_MS, unansweredBeforeMs: nowMs - UNANSWERED_MS }
    return deleteAbandoned(this.options.db, before)
  }

  /** @throws {AppError} `event_not_found` */
  find(name: Parameters<typeof getEvent>[1]): Promise<Event> {
    return getEvent(this.options.db, name)
  }
}

/** For a command, which works on the database without a server. */
export function openApprovals({
  db,
  clock,
  vault,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
}): Approvals {
  const issuer = { listCodes: (eventId: number) => listOwnCodes(db, eventId) }
  const parts = { codeCounts: new CodeCountCache(db), holds: new EventHolds({ db, clock }) }
  return new Approvals({ db, clock, codes: new CodeLoader({ db, clock, vault, issuer, ...parts }) })
}
