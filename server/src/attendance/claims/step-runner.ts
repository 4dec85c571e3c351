import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { BatchesByKey } from '../../work/batches.ts'
import type { EventHolds } from '../events/event-holds.ts'
import { addFailure } from '../issuers/failure-queries.ts'
import { IssuerError } from '../issuers/issuer.ts'
import type { Issuers } from '../issuers/issuers.ts'
import { UnreadableSecretError, type Vault } from '../secrets/vault.ts'
import { ClaimContradictions, type ClaimLog } from './claim-contradictions.ts'
import { MINTING_FIRST_MS, MINTING_MOST_MS, pauseAfter } from './claim-pauses.ts'
import {
  type AcceptedClaim,
  acceptClaims,
  confirmClaim,
  type HeldClaim,
  postponeClaim,
  postponeUnasked,
} from './claim-queries.ts'
import { type Move, moveForUnreadableCode, nextMove } from './claim-steps.ts'
import { assertOurs, ClaimWrites, LeaseLostError, type StepOutcome } from './claim-writes.ts'

/** How many codes one step tries; then the claim is postponed. */
const SWAPS_PER_STEP = 5

export interface StepRunnerOptions {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly issuer: Pick<Issuers, 'readCode' | 'mint' | 'sign'>
  /** How long one call to the issuer takes at most. */
  readonly issuerTimeoutMs: number
  readonly holds: Pick<EventHolds, 'findHeld' | 'mayAsk' | 'contradicted' | 'forget'>
  readonly log: ClaimLog
  /**
   * Called with every move, with `unknown` for a step without a definite answer, `held` for one of a held event, and
   * `lost` for one that wrote nothing because another process has taken the claim over.
   */
  readonly onStep?: (result: Move['kind'] | 'unknown' | 'held' | 'lost') => void
}

/**
 * Carries out one step of a claim: asks the issuer, decides with `claim-steps.ts`, and writes what came of it. Keeps nothing
 * of a claim between two steps.
 */
export class StepRunner {
  private readonly options: StepRunnerOptions
  private readonly writes: ClaimWrites
  private readonly contradictions: ClaimContradictions
  private readonly accepted: BatchesByKey<AcceptedClaim, boolean>

  /** @param whenTaken resolves when the claims that this process takes just now are read: that may extend its leases */
  constructor(options: StepRunnerOptions, whenTaken: () => Promise<void> | undefined) {
    this.options = options
    const { db, clock, holds, log, issuerTimeoutMs } = options
    this.writes = new ClaimWrites({ db, clock, issuerTimeoutMs, whenTaken })
    this.contradictions = new ClaimContradictions({ db, clock, holds, log, writes: this.writes })
    this.accepted = new BatchesByKey(
      ({ claim }) => claim.eventId,
      async (claims) => {
        const { isWritten, ended } = await acceptClaims(db, claims, clock.nowMs())
        if (ended) await this.contradictions.endHold(ended)
        return isWritten
      },
    )
  }

  /**
   * Never throws: a failed step is tried again later.
   *
   * @returns undefined for a step without a result
   */
  async run(held: HeldClaim): Promise<StepOutcome | undefined> {
    const step = { claim: held }
    try {
      return await this.stepOrThrow(step)
    } catch (error) {
      if (error instanceof IssuerError) await this.storeFailure(step.claim, error)
      else this.reportFailure(step.claim, error)
      return undefined
    }
  }

  /** A step that wrote nothing: after the lease the claim is taken again. */
  private reportFailure({ id, eventId }: HeldClaim, error: unknown): void {
    const { log, onStep } = this.options
    const facts = { claim: id, event: eventId }
    if (error instanceof LeaseLostError) {
      onStep?.('lost')
      log.warn(facts, 'another process has taken a claim over; this one changes nothing')
    } else log.error({ ...facts, err: error }, 'a step of a claim failed; it will be tried again')
  }

  private async storeFailure(claim: HeldClaim, error: IssuerError): Promise<void> {
    const { db, clock, log, onStep } = this.options
    const { kind, call, status } = error
    log.warn({ claim: claim.id, event: claim.eventId, kind, call, status }, 'no answer for a claim')
    try {
      // The short pauses of a reserved claim: the failure says nothing about the token
      const pauseMs = Math.max(pauseAfter({ ...claim, state: 'reserved' }), error.retryAfterMs ?? 0)
      const nextStepAtMs = clock.nowMs() + Math.min(pauseMs, MINTING_MOST_MS)
      const mayBeMade = claim.wasAsked || (kind === 'unavailable' && call === 'mint')
      const write = mayBeMade ? postponeClaim : postponeUnasked
      await this.writes.write(claim, async () => assertOurs(await write(db, claim, nextStepAtMs)))
      onStep?.('unknown')
      await addFailure(db, claim.eventId, error, clock.nowMs())
    } catch (failure) {
      this.reportFailure(claim, failure)
    }
  }

  /** @param step its `claim` is replaced when the claim gets another code, also if this function throws later */
  private async stepOrThrow(step: { claim: HeldClaim }): Promise<StepOutcome | undefined> {
    const { issuer, onStep } = this.options
    if (step.claim.encrypted === null) return this.sign(step.claim)
    if (await this.contradictions.isWaitingForProbe(step.claim)) {
      onStep?.('held')
      return { state: step.claim.state }
    }
    for (let swaps = 0; swaps <= SWAPS_PER_STEP; swaps++) {
      const { claim } = step
      const code = this.openCode(claim)
      const { state, address, attempts, wasAsked } = claim
      const move =
        code === undefined
          ? moveForUnreadableCode(claim)
          : await nextMove(issuer, { state, address, code, attempts, wasAsked }, () =>
              this.writes.renew(claim),
            )
      onStep?.(move.kind)
      if (move.kind !== 'swap' && move.kind !== 'doubt') return this.apply(claim, move)
      const swapped =
        move.kind === 'swap'
          ? await this.contradictions.swap(claim, move, swaps > 0)
          : await this.contradictions.doubt(claim)
      if (!('codeId' in swapped)) return swapped
      step.claim = swapped
    }
    return this.writes.postpone(step.claim)
  }

  /** A claim of an event that was made here has a place and no code, so nothing can be refused: its message is signed, or it waits. */
  private async sign(claim: HeldClaim): Promise<StepOutcome> {
    const { issuer, onStep } = this.options
    await issuer.sign(claim, () => this.writes.renew(claim))
    onStep?.('confirm')
    return this.apply(claim, { kind: 'confirm', txHash: undefined })
  }

  /** Undefined, with an alarm in the log, for a code that no key of this process decrypts. */
  private openCode({ id, eventId, codeId, encrypted }: HeldClaim): string | undefined {
    const { vault, log } = this.options
    if (encrypted === null) return undefined
    try {
      return vault.decrypt('claim-code', encrypted, String(eventId))
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error
      log.error({ claim: id, event: eventId, code: codeId, err: error }, 'the code of a claim cannot be used')
      return undefined
    }
  }

  private async apply(
    claim: HeldClaim,
    move: Exclude<Move, { kind: 'swap' | 'doubt' }>,
  ): Promise<StepOutcome> {
    const { db, clock } = this.options
    const nowMs = clock.nowMs()
    switch (move.kind) {
      case 'accept':
        await this.writes.write(claim, async () =>
          assertOurs(await this.accepted.add({ claim, nextStepAtMs: nowMs + MINTING_FIRST_MS })),
        )
        this.contradictions.accepted(claim.eventId)
        return { state: 'minting' }
      case 'confirm':
        await this.writes.write(claim, async () =>
          assertOurs(await confirmClaim(db, claim, nowMs, move.txHash)),
        )
        return { state: 'minted' }
      case 'release':
        return this.contradictions.release(claim, move)
      case 'fail':
        return this.writes.close(claim, { state: 'failed', reason: move.reason, code: move.code })
      case 'wait':
        return this.writes.postpone(claim)
    }
  }
}
