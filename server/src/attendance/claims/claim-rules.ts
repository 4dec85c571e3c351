import type { Clock } from '../../clock.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import type { BlockedPlayers } from '../events/blocked-players.ts'
import type { EventHolds } from '../events/event-holds.ts'
import type { Event } from '../events/event-queries.ts'
import { assertNotOver, assertOpen, isRehearsing } from '../events/openness.ts'
import type { Grants } from '../grants/grants.ts'
import type { RehearsedBy } from '../rehearsal/rehearsal-queries.ts'
import type { Rehearsals } from '../rehearsal/rehearsals.ts'
import {
  type Claimant,
  type ClaimProof,
  type CountPlayer,
  claimedAddress,
  isFromPreview,
  type ProofCheckers,
  proveClaimant,
} from './claimant.ts'
import { alreadyClaimed, type Claims, type ServedClaim } from './claims.ts'
import { assertNoGuest } from './guest-rule.ts'
import { assertAtEvent, type FindPlayer } from './presence-rule.ts'
import { asRehearsal, refuseAsChosen, rehearsedState } from './rehearsed-refusals.ts'

export interface ClaimRulesOptions extends ProofCheckers {
  readonly clock: Clock
  readonly claims: Pick<Claims, 'findRepeated' | 'claim'>
  readonly holds: Pick<EventHolds, 'assertNotHeld'>
  readonly blocked: Pick<BlockedPlayers, 'assertNotBlocked'>
  readonly grants: Pick<Grants, 'assertGranted'>
  readonly rehearsals: Pick<Rehearsals, 'noteClaim' | 'noteRefusal'>
}

/** A player's request for a token of an event. */
export interface ClaimAttempt {
  readonly event: Event
  /**
   * Reads what proves who the player is. Called only when the event is open or rehearses, so a closed event costs no
   * signature check.
   *
   * @throws {AppError} when the proof is malformed, or its signature is wrong
   */
  readonly proof: () => ClaimProof | Promise<ClaimProof>
  /** Finds out whether the player is at the event. */
  readonly place: FindPlayer
  readonly countPlayer: CountPlayer
  /** The error code that a rehearsal is asked to answer. Real claims ignore it. */
  readonly rehearse?: string | undefined
}

/** A request whose proof was read. */
type ReadAttempt = ClaimAttempt & { readonly given: ClaimProof }

/**
 * Decides whether a player gets a token of an event. The rules, in this order:
 *
 * 1. the event is open (events/openness.ts)
 * 2. the player is proven, with captcha or proof of work where the event or the server asks for one (claimant.ts); who has
 *    signed, and has a claim already, gets that claim without them
 * 3. the event is not held (events/event-holds.ts)
 * 4. the organiser has not blocked the player (events/blocked-players.ts)
 * 5. the player is no guest, or the event allows guests (guest-rule.ts)
 * 6. the player is at the event (presence-rule.ts)
 * 7. the player has a grant, where the event requires one (grants/grants.ts)
 * 8. the player has no token of the event yet, and a code is free (claims.ts)
 *
 * While the event rehearses, a claim from a preview is a rehearsal: the rules about the player hold, and the rest is as
 * on the evening of the event, or as the builder of the scene chooses (rehearsed-refusals.ts).
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
  async claim(attempt: ClaimAttempt): Promise<ServedClaim> {
    if (!isRehearsing(attempt.event, this.options.clock.nowMs())) return this.claimToken(attempt)
    const given = await attempt.proof()
    if (await isFromPreview(this.options, given)) return this.rehearse({ ...attempt, given })
    return this.claimToken({ ...attempt, proof: () => given })
  }

  private async claimToken({ event, proof, place, countPlayer }: ClaimAttempt): Promise<ServedClaim> {
    const { clock, claims, signedFetch } = this.options
    assertOpen(event, clock.nowMs())
    const given = await proof()
    let claimant: Claimant | undefined
    try {
      claimant = await proveClaimant(this.options, event, given, countPlayer)
      await this.assertNotHeld(event, claimant)
      await this.assertNotBlocked(event, claimant)
      await this.assertNoGuest(event, claimant)
      await assertAtEvent(event, claimant, place)
      await this.assertGranted(event, claimant)
    } catch (error) {
      if (claimant?.unused) await signedFetch.useUp(claimant.unused, event.event_id)
      const address = claimant?.address ?? signerWithoutEffort(given, error)
      // A repeated claim is answered like the first one, wherever the player is now, and if blocked since
      const repeated = address === undefined ? undefined : await claims.findRepeated(event, address)
      if (repeated) return repeated
      throw error
    }
    return claims.claim(event, claimant.address, claimant.unused)
  }

  /** A claim of a rehearsal. Neither presence nor the issuer is asked. Every refusal is marked as rehearsed. */
  private async rehearse({ event, given, countPlayer, rehearse }: ReadAttempt): Promise<ServedClaim> {
    const { clock, captchas, signedFetch, rehearsals } = this.options
    const nowMs = clock.nowMs()
    const eventId = event.event_id
    try {
      assertNotOver(event, nowMs)
      const claimant = await proveClaimant(this.options, event, given, countPlayer)
      if (claimant.unused) await signedFetch.useUp(claimant.unused, eventId)
      if (rehearse !== undefined) {
        const { proofOfWorkBits } = captchas
        await refuseAsChosen(rehearse, { event, claimant, nowMs, proofOfWorkBits })
      }
      await this.assertNotBlocked(event, claimant)
      await this.assertNoGuest(event, claimant)
      await this.assertGranted(event, claimant)
      const { address } = claimant
      const state = rehearsedState(event)
      if (!(await rehearsals.noteClaim({ eventId, address, nowMs }))) throw alreadyClaimed({ state })
      return { address, state, reason: null, created_at_ms: nowMs, isRehearsal: true }
    } catch (error) {
      const refusal = asRehearsal(error)
      await this.noteRefusal(error, { eventId, address: claimedAddress(given), nowMs })
      throw refusal
    }
  }

  /** Counts a refusal of a rehearsal. Those of a limit cost no write, and a count that fails hides no refusal. */
  private async noteRefusal(error: unknown, refused: RehearsedBy): Promise<void> {
    if (error instanceof AppError && error.code === 'too_many_requests') return
    await this.options.rehearsals.noteRefusal(refused).catch(() => {})
  }

  /** @throws {AppError} `event_held` */
  private assertNotHeld({ event_id: eventId }: Event, claimant: Claimant): Promise<void> {
    return givingBack(claimant, () => this.options.holds.assertNotHeld(eventId))
  }

  /** @throws {AppError} `player_blocked` */
  private assertNotBlocked({ event_id: eventId }: Event, claimant: Claimant): Promise<void> {
    return givingBack(claimant, () => this.options.blocked.assertNotBlocked(eventId, claimant.address))
  }

  /** @throws {AppError} `guest_refused` */
  private assertNoGuest(event: Event, claimant: Claimant): Promise<void> {
    return givingBack(claimant, async () => assertNoGuest(event, claimant))
  }

  /** @throws {AppError} `grant_required` */
  private assertGranted(event: Event, claimant: Claimant): Promise<void> {
    return givingBack(claimant, () => this.options.grants.assertGranted(event, claimant.address))
  }
}

/** The refusals of a request whose signer is proven, but who must solve something too. */
const EFFORT_REFUSALS: readonly ErrorCode[] = ['captcha_required', 'wrong_captcha', 'proof_of_work_required']

/** The signer of a claim that lacks only its captcha or proof of work: learning of an earlier claim needs neither. */
function signerWithoutEffort(proof: ClaimProof, error: unknown): string | undefined {
  const lacksEffort = error instanceof AppError && EFFORT_REFUSALS.includes(error.code)
  return lacksEffort && proof.kind === 'signed-request' ? proof.signed.address : undefined
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
