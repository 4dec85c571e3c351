import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { isUniqueViolation } from '../../db/statement-error.ts'
import { AppError } from '../../errors.ts'
import type { CodeCountCache } from '../events/code-count-cache.ts'
import type { Event } from '../events/event-queries.ts'
import { eventExpired } from '../events/openness.ts'
import type { SignedFetch } from '../signed-fetch/signed-fetch.ts'
import type { SingleUse } from '../signed-fetch/signed-request.ts'
import {
  type Claim,
  findClaim,
  hasFreeCode,
  type Insertion,
  insertClaim,
  type NewClaim,
  reviveClaim,
} from './claim-queries.ts'
import { type ClaimWorker, LEASE_MS } from './claim-worker.ts'

export interface ClaimsOptions {
  readonly db: Db
  readonly clock: Clock
  readonly worker: Pick<ClaimWorker, 'hasRoom' | 'take' | 'waitForStep'>
  readonly signedFetch: Pick<SignedFetch, 'assertFirstUse'>
  readonly codeCounts: Pick<CodeCountCache, 'forget'>
  /** How long an answer waits for the issuer's. */
  readonly waitMs: number
}

/** The sentence that booths compare with (the scene booth's contract): it must not change. */
const ALREADY_CLAIMED = 'Address already claimed a code for this event'
/** How often a free code that others are taking is waited for. */
const RESERVE_TRIES = 5

/** Giving a player a token of an event: the part after everything was checked. */
export class Claims {
  private readonly options: ClaimsOptions
  constructor(options: ClaimsOptions) {
    this.options = options
  }

  /**
   * The claim that a player has already, where it is unfinished: a repeat gets the same one, not an error.
   * Undefined where they may make one.
   *
   * @throws {AppError} `already_claimed` for a player who holds a token
   */
  async findRepeated(event: Event, address: string): Promise<Claim | undefined> {
    return unfinished(await findClaim(this.options.db, event.event_id, address))
  }

  /**
   * Ties a free code to the player, asks the issuer for the token, and waits a little for its answer. A player who has
   * an unfinished claim gets that one.
   *
   * @param unused the signed request that brought the claim, where nothing has used it up yet
   * @throws {AppError} `signature_used`, `already_claimed`, `no_codes_left`, or why the issuer refused
   */
  async claim(event: Event, address: string, unused?: SingleUse): Promise<ServedClaim> {
    const { worker, waitMs, codeCounts } = this.options
    const { made, repeated } = await this.reserve(event, address, unused)
    if (repeated) return repeated
    const outcome = await worker.waitForStep(made.id, waitMs)
    codeCounts.forget(event.event_id) // whoever claims and looks then sees it
    return assertServed({
      address,
      created_at_ms: made.createdAtMs,
      state: 'reserved',
      reason: null,
      ...outcome,
    })
  }

  private async reserve(event: Event, address: string, unused?: SingleUse): Promise<Reserved> {
    const { db, clock, worker } = this.options
    let request = unused
    for (let attempt = 0; attempt < RESERVE_TRIES; attempt++) {
      const nowMs = clock.nowMs()
      const isKept = worker.hasRoom()
      const claim = {
        eventId: event.event_id,
        address,
        nowMs,
        nextStepAtMs: isKept ? nowMs + LEASE_MS : nowMs,
      }
      const inserted = await this.insert(claim, request, attempt > 0)
      if (!inserted) continue
      request = undefined
      const { known } = inserted
      const made = inserted.made ?? (known?.state === 'failed' ? await reviveClaim(db, claim) : undefined)
      if (made) {
        if (isKept) worker.take(made)
        return { made: { id: made.id, createdAtMs: nowMs } }
      }
      const repeated = unfinished(known)
      if (repeated) return { repeated }
      if (!(await hasFreeCode(db, event.event_id))) break
    }
    throw new AppError(
      'no_codes_left',
      'No more tokens of this event are left. The organiser can ask the issuer for more and load them.',
    )
  }

  /** @returns undefined where another claim of the player was made at this very moment */
  private async insert(
    claim: NewClaim,
    request: SingleUse | undefined,
    wait: boolean,
  ): Promise<Insertion | undefined> {
    const { db, signedFetch } = this.options
    try {
      const inserted = await insertClaim(db, claim, { request, wait })
      if (request) signedFetch.assertFirstUse(inserted.isFirstUse)
      return inserted
    } catch (error) {
      // The constraint spoke. Looking first would let both claims through.
      if (isUniqueViolation(error, 'one_claim_per_address')) return undefined
      throw error
    }
  }
}

type Reserved =
  | { readonly made: { readonly id: number; readonly createdAtMs: number }; readonly repeated?: never }
  | { readonly made?: never; readonly repeated: ServedClaim }

/** A claim as its player may know it. */
export type ServedClaim = Pick<Claim, 'address' | 'state' | 'reason' | 'created_at_ms'>

/** A repeat gets the same claim, not an error; whoever has a token is told so. */
function unfinished(claim: Claim | undefined): Claim | undefined {
  if (!claim || claim.state === 'failed') return undefined
  if (claim.state !== 'reserved') throw alreadyClaimed(claim)
  return claim
}

function alreadyClaimed({ state }: ServedClaim): AppError {
  return new AppError('already_claimed', ALREADY_CLAIMED, { claim: { status: state } })
}

/** A claim that was refused while its player waited is told as the refusal that it is. */
function assertServed(claim: ServedClaim): ServedClaim {
  if (claim.state === 'released') throw alreadyClaimed(claim)
  if (claim.state !== 'failed') return claim
  switch (claim.reason) {
    case 'expired':
      throw eventExpired()
    case 'no_codes_left':
      throw new AppError(
        'no_codes_left',
        'The last tokens of this event were used elsewhere. The organiser can load more.',
      )
    default:
      throw new AppError(
        'claim_refused',
        'The token issuer refused to make this token. Nothing was used up: please try again later, or ask the organiser.',
        { reason: claim.reason },
      )
  }
}
