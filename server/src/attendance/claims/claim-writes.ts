import { type Clock, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { ClaimState } from '../../db/schema.ts'
import { BatchesByKey } from '../../work/batches.ts'
import { IssuerError } from '../issuers/issuer.ts'
import { pauseAfter } from './claim-pauses.ts'
import {
  type Closing,
  closeClaim,
  type HeldClaim,
  type LeaseRenewal,
  postponeClaim,
  renewLeases,
} from './claim-queries.ts'

/**
 * How much longer than one call to the issuer the lease is when a token is requested. The renewal itself may take so
 * long: then the request still ends within the lease, however long the process was suspended meanwhile.
 */
const RENEWAL_MARGIN_MS = 5 * SECOND_MS
const RENEWAL_TRIES = 3

/** The result of a step. */
export interface StepOutcome {
  readonly state: ClaimState
  /** Why the claim was closed. */
  readonly reason?: string
}

/** Another process has taken the claim over. */
export class LeaseLostError extends Error {}

export interface ClaimWritesOptions {
  readonly db: Db
  readonly clock: Clock
  /** How long one call to the issuer takes at most. */
  readonly issuerTimeoutMs: number
  /** Resolves when the claims that this process takes just now are read: that may extend its leases. */
  readonly whenTaken: () => Promise<void> | undefined
}

/** What a step writes: nothing, unless this process still has the claim. */
export class ClaimWrites {
  private readonly options: ClaimWritesOptions
  private readonly renewals: BatchesByKey<LeaseRenewal, boolean>

  constructor(options: ClaimWritesOptions) {
    this.options = options
    this.renewals = new BatchesByKey(
      ({ claim }) => claim.eventId,
      (renewals) => renewLeases(options.db, renewals),
    )
  }

  /**
   * Does a write of a step.
   *
   * @param work throws a LeaseLostError where it has changed nothing: see {@link assertOurs}
   * @throws {LeaseLostError} when another process has taken the claim over
   */
  async write<Result>({ lease }: HeldClaim, work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      const seenUntilMs = lease.untilMs
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
        // This process may have extended the lease itself in the meantime: then once more
        await this.options.whenTaken()
        if (lease.untilMs === seenUntilMs) throw error
      }
    }
  }

  /**
   * Called immediately before a token is requested: makes the lease longer than the request, and stores that the issuer
   * is asked.
   *
   * @throws {LeaseLostError} when another process has taken the claim over, for example because this one was suspended
   */
  async renew(claim: HeldClaim): Promise<void> {
    const { clock, issuerTimeoutMs } = this.options
    const { lease } = claim
    for (let tried = 0; tried < RENEWAL_TRIES; tried++) {
      const startedMs = performance.now()
      const seenUntilMs = lease.untilMs
      const untilMs = Math.max(seenUntilMs, clock.nowMs() + issuerTimeoutMs + RENEWAL_MARGIN_MS)
      const isOurs = await this.renewals.add({ claim, seenUntilMs, untilMs })
      if (isOurs) {
        lease.untilMs = untilMs
        if (performance.now() - startedMs < RENEWAL_MARGIN_MS) return
        continue
      }
      // This process may have extended the lease itself in the meantime: then once more
      await this.options.whenTaken()
      if (lease.untilMs === seenUntilMs) throw new LeaseLostError()
    }
    throw new IssuerError('busy', { call: 'mint' }) // nothing was requested; the claim is tried again
  }

  /** The claim is over. @throws {LeaseLostError} */
  async close(claim: HeldClaim, closing: Closing): Promise<StepOutcome> {
    const { db, clock } = this.options
    await this.write(claim, async () => assertOurs(await closeClaim(db, claim, clock.nowMs(), closing)))
    return { state: closing.state, reason: closing.reason }
  }

  /** Nothing is known yet: the claim is tried again after a pause. @throws {LeaseLostError} */
  async postpone(claim: HeldClaim): Promise<StepOutcome> {
    const { db, clock } = this.options
    const nextStepAtMs = clock.nowMs() + pauseAfter(claim)
    await this.write(claim, async () => assertOurs(await postponeClaim(db, claim, nextStepAtMs)))
    return { state: claim.state }
  }
}

/** @throws {LeaseLostError} when a write found that another process has the claim */
export function assertOurs<Result>(written: Result | false): Result {
  if (written === false) throw new LeaseLostError()
  return written
}
