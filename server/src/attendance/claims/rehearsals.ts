import { type Clock, HOUR_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { Event } from '../events/event-queries.ts'
import { isOwnEvent } from '../issuer/own-event-ids.ts'
import { OneSecondCache } from '../one-second-cache.ts'
import { alreadyClaimed, type ServedClaim } from './claims.ts'
import {
  countRehearsal,
  endRehearsals,
  forgetRehearsal,
  isAnyRehearsing,
  noteRehearsedClaim,
  noteRehearsedRefusal,
  type RehearsalCounts,
} from './rehearsal-queries.ts'

/** How long it is kept what players did in a rehearsal. */
const KEPT_MS = 7 * 24 * HOUR_MS

/**
 * Claims that are rehearsed: they are answered like real ones, and remembered for the rehearsal of their event. They use
 * no claim code, make no token, and are no claims in any count but their own.
 */
export class Rehearsals {
  private readonly db: Db
  private readonly clock: Clock
  private readonly anyOn = new OneSecondCache<boolean>()
  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /** Whether any event rehearses: a captcha is asked for before the booth says for which event it is. */
  isAnyOn(): Promise<boolean> {
    return this.anyOn.get('', () => isAnyRehearsing(this.db, this.clock.nowMs()))
  }

  /** A rehearsal begins, also while another one of the event is on: every player can claim anew. */
  async begin(eventId: number): Promise<void> {
    await forgetRehearsal(this.db, eventId)
    this.anyOn.forget('')
  }

  /** A claim that passes all rules. @throws {AppError} `already_claimed` when the player repeats it */
  async claim({ event_id: eventId }: Event, address: string): Promise<ServedClaim> {
    const nowMs = this.clock.nowMs()
    const state = isOwnEvent(eventId) ? 'minted' : 'minting'
    const isFirst = await noteRehearsedClaim(this.db, { eventId, address, nowMs })
    if (!isFirst) throw alreadyClaimed({ state })
    return { address, state, reason: null, created_at_ms: nowMs, isRehearsal: true }
  }

  async countRefusal({ event_id: eventId }: Event, address: string): Promise<void> {
    await noteRehearsedRefusal(this.db, { eventId, address, nowMs: this.clock.nowMs() })
  }

  /** For the report of an event. */
  count(eventId: number): Promise<RehearsalCounts> {
    return countRehearsal(this.db, eventId)
  }

  /** Ends rehearsals whose time is over, and deletes what is old. */
  async cleanUp(): Promise<void> {
    const nowMs = this.clock.nowMs()
    await endRehearsals(this.db, { nowMs, forgetBeforeMs: nowMs - KEPT_MS })
  }
}
