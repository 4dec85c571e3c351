import type { Clock } from '../../clock.ts'
import type { Event } from '../events/event-queries.ts'
import { assertOpen } from '../events/openness.ts'
import { type ClaimProof, type CountPlayer, type ProofCheckers, proveClaimant } from './claimant.ts'
import type { Claims, ServedClaim } from './claims.ts'
import { assertAtEvent, type FindPlayer } from './presence-rule.ts'

export interface ClaimRulesOptions extends ProofCheckers {
  readonly clock: Clock
  readonly claims: Pick<Claims, 'findRepeated' | 'claim'>
}

/** A player's wish for a token of an event. */
export interface ClaimAttempt {
  readonly event: Event
  /**
   * What proves the player. It is asked for only when the event is open: a closed one costs no check of signatures.
   *
   * @throws {AppError} where the proof cannot be read, or its signature is wrong
   */
  readonly proof: () => ClaimProof
  /** Tells where the player is. */
  readonly place: FindPlayer
  readonly countPlayer: CountPlayer
}

/**
 * Who gets a token of an event. The rules, in the order in which they are applied:
 *
 * 1. the event is open (events/openness.ts)
 * 2. the player is who they say, and brings what event and server ask for (claimant.ts)
 * 3. they stand where the event is (presence-rule.ts)
 * 4. they have no token of it yet, and a code is free (claims.ts)
 *
 * They take values and know nothing of HTTP: routes read requests and write answers.
 */
export class ClaimRules {
  private readonly options: ClaimRulesOptions
  constructor(options: ClaimRulesOptions) {
    this.options = options
  }

  /**
   * The claim of a player, new or the unfinished one that they have. A refused attempt has used up its proof too.
   *
   * @throws {AppError} of the rule that refuses it
   */
  async claim({ event, proof, place, countPlayer }: ClaimAttempt): Promise<ServedClaim> {
    const { clock, claims, signedFetch } = this.options
    assertOpen(event, clock.nowMs())
    const claimant = await proveClaimant(this.options, event, proof(), countPlayer)
    try {
      await assertAtEvent(event, claimant, place)
    } catch (error) {
      if (claimant.unused) await signedFetch.useUp(claimant.unused)
      // Whoever has the token already may hear so anywhere.
      const repeated = await claims.findRepeated(event, claimant.address)
      if (repeated) return repeated
      throw error
    }
    return claims.claim(event, claimant.address, claimant.unused)
  }
}
