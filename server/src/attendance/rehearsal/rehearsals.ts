import { type Clock, HOUR_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import {
  countRehearsal,
  endRehearsals,
  forgetRehearsal,
  isAnyRehearsing,
  noteRehearsedClaim,
  noteRehearsedRefusal,
  type RehearsalCounts,
  type RehearsedBy,
} from './rehearsal-queries.ts'

/** How long it is kept what players did in a rehearsal. */
const KEPT_MS = 7 * 24 * HOUR_MS

/**
 * What players did in rehearsals: claims from previews of scenes, which claims/claim-rules.ts decides. They use no claim
 * code, make no token, and are no claims in any count but this one.
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

  /** Notes a claim that passes all rules. @returns whether it is the player's first one in this rehearsal */
  noteClaim(claim: RehearsedBy): Promise<boolean> {
    return noteRehearsedClaim(this.db, claim)
  }

  async noteRefusal(claim: RehearsedBy): Promise<void> {
    await noteRehearsedRefusal(this.db, claim)
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
