import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { BatchesByKey } from '../../work/batches.ts'
import type { CodeCountCache } from '../events/code-count-cache.ts'
import { type Event, getEvent } from '../events/event-queries.ts'
import { eventCancelled, eventExpired, eventRefused } from '../events/openness.ts'
import type { Grants } from '../grants/grants.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import type { PreparedToken } from '../issuers/own/tokens/token-queries.ts'
import type { SignedFetch } from '../signed-fetch/signed-fetch.ts'
import type { SingleUse } from '../signed-fetch/signed-request.ts'
import { type Claim, findClaim, type HeldClaim, hasCode, hasFreeCode } from './claim-queries.ts'
import { type ClaimWorker, LEASE_MS } from './claim-worker.ts'
import {
  type Insertion,
  insertClaim,
  insertClaims,
  type Reservation,
  reviveClaim,
} from './reserve-queries.ts'

export interface ClaimsOptions {
  readonly db: Db
  readonly clock: Clock
  readonly worker: Pick<ClaimWorker, 'hasRoom' | 'take' | 'waitForStep'>
  readonly signedFetch: Pick<SignedFetch, 'assertFirstUse'>
  readonly codeCounts: Pick<CodeCountCache, 'forget' | 'isRefused'>
  readonly grants: Pick<Grants, 'assertGranted'>
  /** The signed token of a player, where our own issuer makes it. */
  readonly prepareToken: (event: Event, address: string) => Promise<PreparedToken | undefined>
  /** Called for a claim whose token is stored: its steps are over. */
  readonly onMinted?: () => void
  /** Statements of an event that insert claims at the same time: more than one where the database executes them side by side. */
  readonly insertsAtOnce?: number
  /** How long a request waits for the answer of the issuer. */
  readonly waitMs: number
}

/** Booths compare this sentence (contract of the scene booth), so it must not change. */
const ALREADY_CLAIMED = 'Address already claimed a code for this event'
/** How many times a reservation is tried while other claims are taking the free codes. */
const RESERVE_TRIES = 5

/** Makes claims: reserves a code and asks the issuer, after all other rules have passed. */
export class Claims {
  private readonly options: ClaimsOptions
  /** Claims that are about to be inserted: those of an event that arrive while others are inserted go together. */
  private readonly inserts: BatchesByKey<Reservation, Insertion>
  constructor(options: ClaimsOptions) {
    this.options = options
    this.inserts = new BatchesByKey(
      ({ claim }) => claim.eventId,
      (reservations) =>
        insertClaims(options.db, reservations[0]!.claim.eventId, reservations, { wait: false }),
      {
        distinctBy: ({ claim }) => claim.address, // one statement has one claim of a player
        atOnce: options.insertsAtOnce,
      },
    )
  }

  /**
   * The unfinished claim of a player, because a repeated claim gets the same answer as the first one. Undefined when the
   * player may make a claim.
   *
   * @throws {AppError} `already_claimed` for a player who holds a token
   */
  async findRepeated(event: Event, address: string): Promise<Claim | undefined> {
    return unfinished(await findClaim(this.options.db, event.event_id, address))
  }

  /**
   * Reserves a free code for the player, asks the issuer for the token, and waits up to `waitMs` for its answer. A token of
   * our own issuer is stored together with the claim. A player with an unfinished claim gets that claim.
   *
   * @param unused the signed request that brought the claim, if it is not used up yet
   * @throws {AppError} `signature_used`, `already_claimed`, `event_cancelled`, `grant_required`, `event_refused`, `no_codes_left`,
   * `no_codes_loaded`, or why the issuer refused
   */
  async claim(event: Event, address: string, unused?: SingleUse): Promise<ServedClaim> {
    const { worker, waitMs, codeCounts } = this.options
    const { made, repeated } = await this.reserve(event, address, unused)
    if (repeated) return repeated
    const outcome = made.state === 'reserved' ? await worker.waitForStep(made.id, waitMs) : undefined
    codeCounts.forget(event.event_id) // the next availability shows this claim
    return assertServed(event, {
      address,
      created_at_ms: made.createdAtMs,
      state: made.state,
      reason: null,
      ...outcome,
    })
  }

  private async reserve(event: Event, address: string, unused?: SingleUse): Promise<Reserved> {
    const { db, clock, worker, grants, codeCounts, prepareToken, onMinted } = this.options
    const token = await prepareToken(event, address)
    let request = unused
    for (let attempt = 0; attempt < RESERVE_TRIES; attempt++) {
      const nowMs = clock.nowMs()
      const hasLease = worker.hasRoom
      const claim = {
        eventId: event.event_id,
        address,
        nowMs,
        nextStepAtMs: hasLease ? nowMs + LEASE_MS : nowMs,
        token,
        needsGrant: event.requires_grant,
      }
      const inserted = await this.insert({ claim, request }, attempt > 0)
      request = undefined
      const { known, isSurpassed } = inserted
      if (isSurpassed) continue
      const made = inserted.made ?? (known?.state === 'failed' ? await reviveClaim(db, claim) : undefined)
      if (made) {
        if (made.state === 'minted') onMinted?.()
        else if (hasLease) worker.take(made)
        return { made: { id: made.id, state: made.state, createdAtMs: nowMs } }
      }
      const repeated = unfinished(known)
      if (repeated) return { repeated }
      if (!(await hasFreeCode(db, event.event_id))) break
    }
    // Another process may have given the last code to this player meanwhile
    const late = unfinished(await findClaim(db, event.event_id, address))
    if (late) return { repeated: late }
    // The event was read before the player was looked for
    if ((await getEvent(db, { eventId: event.event_id })).is_cancelled) throw eventCancelled()
    await grants.assertGranted(event, address)
    if (await codeCounts.isRefused(event.event_id, { free: 0 })) throw eventRefused()
    throw noFreeCode(event, await hasCode(db, event.event_id))
  }

  /** @throws {AppError} `signature_used` */
  private async insert({ claim, request }: Reservation, wait: boolean): Promise<Insertion> {
    const { db, signedFetch } = this.options
    const inserted = wait
      ? await insertClaim(db, claim, { request, wait })
      : await this.inserts.add({ claim, request })
    if (request) signedFetch.assertFirstUse(inserted.isFirstUse)
    return inserted
  }
}

type Reserved =
  | {
      readonly made: Pick<HeldClaim, 'id' | 'state'> & { readonly createdAtMs: number }
      readonly repeated?: never
    }
  | { readonly made?: never; readonly repeated: ServedClaim }

/** The part of a claim that the player may see. */
export type ServedClaim = Pick<Claim, 'address' | 'state' | 'reason' | 'created_at_ms'> & {
  /** True for a claim that was rehearsed: there is no token, and no row of a claim. */
  readonly isRehearsal?: true
}

/** A claim without an answer of the issuer. @throws {AppError} `already_claimed` when the token exists or is being made */
function unfinished(claim: Claim | undefined): Claim | undefined {
  if (!claim || claim.state === 'failed') return undefined
  if (claim.state !== 'reserved') throw alreadyClaimed(claim)
  return claim
}

export function alreadyClaimed({ state }: Pick<ServedClaim, 'state'>): AppError {
  return new AppError('already_claimed', ALREADY_CLAIMED, { claim: { status: state } })
}

/** The error where no code is free. An event that never had codes gets another sentence than one whose codes are used up. */
export function noFreeCode({ event_id: eventId, codes_asked_at_ms }: Event, hadCodes: boolean): AppError {
  const isOwn = isOwnEvent(eventId)
  if (hadCodes) {
    return new AppError(
      'no_codes_left',
      isOwn
        ? 'No more tokens of this event are left. Please ask the organiser.'
        : 'No more tokens of this event are left. The organiser can ask the issuer for more and load them.',
    )
  }
  if (isOwn) {
    return new AppError(
      'no_codes_loaded',
      'The tokens of this event are not ready yet. Please ask the organiser, and try again later.',
    )
  }
  return new AppError(
    'no_codes_loaded',
    codes_asked_at_ms === null
      ? 'The organiser has not loaded the tokens of this event yet. Please ask the organiser, and try again later.'
      : 'The token issuer has not approved this event yet, so it has no tokens. Please try again in a day or two.',
  )
}

/** @throws {AppError} the reason, when the issuer refused the claim while the request was waiting */
function assertServed(event: Event, claim: ServedClaim): ServedClaim {
  if (claim.state === 'released') throw alreadyClaimed(claim)
  if (claim.state !== 'failed') return claim
  switch (claim.reason) {
    case 'expired':
      throw eventExpired(event)
    case 'no_codes_left':
      throw new AppError(
        'no_codes_left',
        'The last tokens of this event were used elsewhere. The organiser can load more.',
      )
    default:
      throw claimRefused(event, claim.reason)
  }
}

/** @param reason a word for programs */
export function claimRefused(
  { event_id: eventId }: Pick<Event, 'event_id'>,
  reason: string | null,
): AppError {
  return new AppError(
    'claim_refused',
    isOwnEvent(eventId)
      ? 'This server could not sign this token. Nothing was used up: please try again later, or ask the organiser.'
      : 'The token issuer refused to make this token. Nothing was used up: please try again later, or ask the organiser.',
    { reason },
  )
}
