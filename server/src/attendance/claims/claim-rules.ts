import type { Clock } from '../../clock.ts'
import type { EventHolds } from '../events/event-holds.ts'
import type { Event } from '../events/event-queries.ts'
import { assertOpen } from '../events/openness.ts'
import type { Grants } from '../grants/grants.ts'
import {
  type Claimant,
  type ClaimProof,
  type CountPlayer,
  type ProofCheckers,
  proveClaimant,
} from './claimant.ts'
import type { Claims, ServedClaim } from './claims.ts'
import { assertAtEvent, type FindPlayer } from './presence-rule.ts'

export interface ClaimRulesOptions extends ProofCheckers {
  readonly clock: Clock
  readonly claims: Pick<Claims, 'findRepeated' | 'claim'>
  readonly holds: Pick<EventHolds, 'assertNotHeld'>
  readonly grants: Pick<Grants, 'assertGranted'>
}

/** A player's request for a token of an event. */
export interface ClaimAttempt {
  readonly event: Event
  /**
   * Reads what proves who the player is. Called only when the event is open, so a closed event costs no signature check.
   *
   * @throws {AppError} when the proof is malformed, or its signature is wrong
   */
  readonly proof: () => ClaimProof
  /** Finds out whether the player is at the event. */
  readonly place: FindPlayer
  readonly countPlayer: CountPlayer
}

/**
 * Decides whether a player gets a token of an event. The rules, in this order:
 *
 * 1. the event is open (events/openness.ts)
 * 2. the player is proven, with captcha or proof of work where the event or the server asks for one (claimant.ts)
 * 3. the event is not held (events/event-holds.ts)
 * 4. the player is at the event (presence-rule.ts)
 * 5. the player has a grant, where the event requires one (grants/grants.ts)
 * 6. the player has no token of the event yet, and a code is free (claims.ts)
 *
 * The rules take values and know nothing of HTTP; routes read requests and write answers.
 */
export class ClaimRules {
  private readonly options: ClaimRulesOptions
  constructor(options: ClaimRulesOptions) {
    this.options = options
  }

  /**
   * The claim of a player: a new one, or the unfinished one. A refused attempt uses up its proof too.
   *
   * @throws {AppError} of the rule that refuses it
   */
  async claim({ event, proof, place, countPlayer }: ClaimAttempt): Promise<ServedClaim> {
    const { clock, claims, signedFetch } = this.options
    assertOpen(event, clock.nowMs())
    const claimant = await proveClaimant(this.options, event, proof(), countPlayer)
    try {
      await this.assertNotHeld(event, claimant)
      await assertAtEvent(event, claimant, place)
      await this.assertGranted(event, claimant)
    } catch (error) {
      if (claimant.unused) await signedFetch.useUp(claimant.unused)
      // A repeated claim is answered like the first one, wherever the player is now
      const repeated = await claims.findRepeated(event, claimant.address)
      if (repeated) return repeated
      throw error
    }
    return claims.claim(event, claimant.address, claimant.unused)
  }

  /** @throws {AppError} `event_held` */
  private assertNotHeld({ event_id: eventId }: Event, claimant: Claimant): Promise<void> {
    return givingBack(claimant, () => this.options.holds.assertNotHeld(eventId))
  }

  /** @throws {AppError} `grant_required` */
  private assertGranted(event: Event, claimant: Claimant): Promise<void> {
    return givingBack(claimant, () => this.options.grants.assertGranted(event, claimant.address))
  }
}

/** Where a rule refuses what the player could not know, a used captcha becomes pending again. */
async function givingBack({ giveBack }: Claimant, rule: () => Promise<void>): Promise<void> {
  try {
    await rule()
  } catch (error) {
    await giveBack?.()
    throw error
  }
}
