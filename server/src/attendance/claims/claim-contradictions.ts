import { type Clock, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { EventHolds } from '../events/event-holds.ts'
import { type HeldEvent, wakeClaims } from '../events/hold-queries.ts'
import { pauseAfter } from './claim-pauses.ts'
import {
  closeClaim,
  type HeldClaim,
  hasFreeCode,
  postponeClaim,
  swapCode,
  waitForProbe,
  wereCodesListed,
} from './claim-queries.ts'
import type { Move } from './claim-steps.ts'
import { assertOurs, type ClaimWrites, type StepOutcome } from './claim-writes.ts'
import { UsedCodes } from './used-codes.ts'

/** The issuer contradicts itself if it calls a code used that its own list, not older than this, called unused. */
const LISTED_WITHIN_MS = 5 * MINUTE_MS

export interface ClaimLog {
  warn(facts: object, sentence: string): void
  error(facts: object, sentence: string): void
}

export interface ClaimContradictionsOptions {
  readonly db: Db
  readonly clock: Clock
  readonly holds: Pick<EventHolds, 'findHeld' | 'mayAsk' | 'contradicted' | 'forget'>
  readonly writes: ClaimWrites
  readonly log: ClaimLog
}

/**
 * What becomes of a claim whose code the issuer does not accept: another code, an event that is held, or an end. The
 * issuer may contradict its own list; `events/event-holds.ts` counts that.
 */
export class ClaimContradictions {
  private readonly options: ClaimContradictionsOptions
  private readonly usedCodes = new UsedCodes()

  constructor(options: ClaimContradictionsOptions) {
    this.options = options
  }

  /** The issuer has accepted a claim of the event. */
  accepted(eventId: number): void {
    this.usedCodes.forget(eventId)
  }

  /**
   * @param isNew whether this step took the code: a code that the claim held for longer may well be used
   * @returns the claim with another code, or the result when there is none
   */
  async swap(
    claim: HeldClaim,
    { code, reason }: Extract<Move, { kind: 'swap' }>,
    isNew: boolean,
  ): Promise<HeldClaim | StepOutcome> {
    const { db, clock, writes } = this.options
    if (code === 'used_elsewhere' && isNew && (await this.contradictsList(claim))) return this.hold(claim)
    const swapped = await writes.write(claim, async () =>
      assertOurs(await swapCode(db, claim, clock.nowMs(), code)),
    )
    if (swapped) return swapped
    if (await hasFreeCode(db, claim.eventId)) return writes.postpone(claim)
    return writes.close(claim, { state: 'failed', reason, code })
  }

  /** Whether code after code is used that the issuer listed as unused a short time ago. Codes of an older list may well be. */
  private async contradictsList(claim: HeldClaim): Promise<boolean> {
    if (!this.usedCodes.isContradiction(claim)) return false
    return wereCodesListed(this.options.db, claim.eventId, this.options.clock.nowMs() - LISTED_WITHIN_MS)
  }

  /** Holds the event whose codes are used by others, one after the other. The claim keeps its code, and waits. */
  private async hold(claim: HeldClaim): Promise<StepOutcome> {
    const { clock, holds, log, writes } = this.options
    const { eventId, state } = claim
    const about = { eventId, reason: 'other_beneficiary' as const, codeId: null, isRepeated: true }
    await writes.write(claim, () =>
      holds.contradicted(about, async (tx, hold) => {
        const nowMs = clock.nowMs()
        assertOurs(await waitForProbe(tx, claim, { atMs: hold.probe_at_ms ?? nowMs, nowMs }))
        if (hold.answers === 2)
          logHold(log, eventId, 'it calls code after code used that it listed as unused')
      }),
    )
    return { state }
  }

  /**
   * After the first unknown code in a row of the event, the claim takes another code, unless a token was requested with
   * this one. After the second the event is held, and the claim keeps its code. An accepted claim always keeps it.
   */
  async doubt(claim: HeldClaim): Promise<HeldClaim | StepOutcome> {
    const { clock, holds, log, writes } = this.options
    const { eventId, codeId } = claim
    const isAccepted = claim.state === 'minting'
    const about = { eventId, reason: 'unknown_codes' as const, codeId: isAccepted ? null : codeId }
    const swapped = await writes.write(claim, () =>
      holds.contradicted(about, async (tx, hold) => {
        const nowMs = clock.nowMs()
        if (isAccepted) assertOurs(await postponeClaim(tx, claim, nowMs + pauseAfter(claim)))
        else if (hold.answers === 1 && !claim.wasAsked)
          return assertOurs(await swapCode(tx, claim, nowMs, 'void'))
        else if (hold.probe_at_ms !== null)
          assertOurs(await waitForProbe(tx, claim, { atMs: hold.probe_at_ms, nowMs }))
        if (hold.answers === 2) logHold(log, eventId, 'it does not know codes of its own list')
        return undefined
      }),
    )
    if (swapped) return swapped
    if (isAccepted) return { state: claim.state }
    const hold = await holds.findHeld(eventId)
    return hold ? { state: claim.state } : writes.postpone(claim)
  }

  /** The token of the claim has an owner: the player, or another address, which contradicts the issuer's list. */
  async release(
    claim: HeldClaim,
    { reason, code }: Extract<Move, { kind: 'release' }>,
  ): Promise<StepOutcome> {
    const { clock, holds, log, writes } = this.options
    const closing = { state: 'released', reason, code } as const
    if (reason === 'already_held') return writes.close(claim, closing)
    const { eventId } = claim
    await writes.write(claim, () =>
      holds.contradicted({ eventId, reason, codeId: null }, async (tx, hold) => {
        assertOurs(await closeClaim(tx, claim, clock.nowMs(), closing))
        if (hold.answers === 2) logHold(log, eventId, 'it gives tokens of claims to somebody else')
      }),
    )
    return { state: 'released', reason }
  }

  /** Claims that waited for the probe go on. */
  async endHold(ended: HeldEvent): Promise<void> {
    const { db, clock, holds, log } = this.options
    holds.forget(ended.event_id)
    try {
      await wakeClaims(db, ended, clock.nowMs())
    } catch (error) {
      // The claims that were accepted are written; the others go on at the time of the next probe
      log.error({ event: ended.event_id, err: error }, 'the claims of a held event could not be woken')
      return
    }
    log.warn({ event: ended.event_id }, 'the issuer accepts claims of a held event again; it goes on')
  }

  /** Whether the event is held, and the claim may not ask now: then it waits until the next probe. */
  async isWaitingForProbe(claim: HeldClaim): Promise<boolean> {
    const { db, clock, holds, writes } = this.options
    if (claim.state !== 'reserved') return false
    const hold = await holds.findHeld(claim.eventId)
    if (!hold || (await holds.mayAsk(hold))) return false
    const probe = { atMs: hold.probe_at_ms, nowMs: clock.nowMs() }
    await writes.write(claim, async () => assertOurs(await waitForProbe(db, claim, probe)))
    return true
  }
}

function logHold(log: ClaimLog, eventId: number, what: string): void {
  log.error({ event: eventId }, `the issuer contradicts itself: ${what}. The claims of the event are held`)
}
