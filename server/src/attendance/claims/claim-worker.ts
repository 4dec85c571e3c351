import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { ClaimState } from '../../db/schema.ts'
import { addFailure } from '../issuer/failure-queries.ts'
import { type Issuer, IssuerError } from '../issuer/issuer.ts'
import type { Vault } from '../vault.ts'
import { AcceptedClaims } from './accepted-claims.ts'
import {
  type Closing,
  closeClaim,
  confirmClaim,
  type HeldClaim,
  hasFreeCode,
  postponeClaim,
  releaseLeases,
  swapCode,
  takeDueClaims,
} from './claim-queries.ts'
import { type Move, nextMove } from './claim-steps.ts'

/** How long a claim belongs to who took it. A process that dies keeps its claims from others for so long. */
export const LEASE_MS = 30 * SECOND_MS
/** How often somebody looks for claims that are due. */
const POLL_INTERVAL_MS = SECOND_MS
/**
 * Steps at a time: two for each call per second, so that nobody waits for a turn longer than a few seconds, and enough
 * that those whose answer is late do not hold up the others.
 */
const SLOTS_PER_CALL = 2
const MIN_SLOTS = 4
const MAX_SLOTS = 128
/** Codes that one step tries before others have their turn. */
const SWAPS_PER_STEP = 5
/** The first look at a token that is being made, which takes a minute or more, and the longest pause between two. */
const MINTING_FIRST_MS = 10 * SECOND_MS
const MINTING_MOST_MS = 5 * MINUTE_MS
/** The same for a claim whose outcome is unknown: somebody waits for it. */
const UNKNOWN_FIRST_MS = SECOND_MS
const UNKNOWN_MOST_MS = 15 * SECOND_MS

/** What a step led to. */
export interface StepOutcome {
  readonly state: ClaimState
  /** Why a claim was closed. */
  readonly reason?: string
}

export interface ClaimLog {
  warn(facts: object, sentence: string): void
  error(facts: object, sentence: string): void
}

export interface ClaimWorkerOptions {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly issuer: Pick<Issuer, 'readCode' | 'mint'>
  /** Calls to the issuer per second: so many claims are looked after at a time, within bounds. */
  readonly callsPerSecond: number
  readonly log: ClaimLog
  /** Hears of every move, and of `unknown` for a step without a definite answer. */
  readonly onStep?: (result: Move['kind'] | 'unknown') => void
}

/**
 * Looks after claims until they are settled: those that this process took, and those that another one left behind.
 * It owns no state but which claims it works on now; everything else is in the rows, so it can die at any moment.
 */
export class ClaimWorker {
  private readonly options: ClaimWorkerOptions
  private readonly slots: number
  /** What this process works on now, and what it was given and has not begun. */
  private readonly running = new Map<number, Promise<void>>()
  private readonly waiting = new Map<number, HeldClaim>()
  private readonly listeners = new Map<number, (outcome: StepOutcome | undefined) => void>()
  private readonly accepted: AcceptedClaims
  private isOpen = false
  private taking: Promise<void> | undefined
  /** The last look found as many as it could take. */
  private mayBeMore = false
  private looking: Promise<void> = Promise.resolve()
  private readonly stop = new AbortController()

  constructor(options: ClaimWorkerOptions) {
    this.options = options
    this.accepted = new AcceptedClaims(options)
    this.slots = Math.min(Math.max(SLOTS_PER_CALL * options.callsPerSecond, MIN_SLOTS), MAX_SLOTS)
  }

  /** Begins to look for claims that are due. */
  start(): void {
    this.isOpen = true
    this.looking = this.look()
  }

  /** Whether a claim would be begun at once or soon: then its reserver may keep it for this process. */
  hasRoom(): boolean {
    return this.isOpen && this.waiting.size < this.slots
  }

  /** Looks after a claim that the caller has just reserved, with a lease of {@link LEASE_MS}. */
  take(claim: HeldClaim): void {
    this.waiting.set(claim.id, claim)
    this.fill()
  }

  /**
   * What the next step of a claim leads to, when this process takes it soon enough. Undefined after a while, when we
   * stop, and when the issuer gave no answer.
   */
  waitForStep(id: number, waitMs: number): Promise<StepOutcome | undefined> {
    if (waitMs <= 0 || !this.isOpen) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const answer = (outcome: StepOutcome | undefined) => {
        clearTimeout(late)
        this.listeners.delete(id)
        resolve(outcome)
      }
      const late = setTimeout(() => answer(undefined), waitMs)
      this.listeners.set(id, answer)
    })
  }

  /** Finishes the steps that run, for as long as it may take, and hands over the rest. */
  async close(patienceMs: number): Promise<void> {
    this.isOpen = false
    this.stop.abort()
    for (const answer of [...this.listeners.values()]) answer(undefined)
    await Promise.all([this.looking, this.taking])
    const { db, clock } = this.options
    const left = [...this.waiting.keys()]
    this.waiting.clear()
    const done = Promise.all(this.running.values())
    await Promise.race([done, sleep(patienceMs, undefined, { ref: false })])
    await releaseLeases(db, [...left, ...this.running.keys()], clock.nowMs()).catch((error) =>
      this.options.log.error(
        { err: error },
        'claims could not be handed over; their leases end by themselves',
      ),
    )
  }

  private async look(): Promise<void> {
    while (this.isOpen) {
      await this.takeDue()
      await sleep(POLL_INTERVAL_MS, undefined, { signal: this.stop.signal }).catch(() => undefined)
    }
  }

  /** Takes what is due: enough for all slots, and as many to go on with. */
  private takeDue(): Promise<void> {
    this.taking ??= this.takeDueNow().finally(() => {
      this.taking = undefined
      this.fill()
    })
    return this.taking
  }

  private async takeDueNow(): Promise<void> {
    const { db, clock, log } = this.options
    const limit = 2 * this.slots - this.running.size - this.waiting.size
    if (limit <= 0) return
    try {
      const nowMs = clock.nowMs()
      const due = await takeDueClaims(db, { nowMs, leaseUntilMs: nowMs + LEASE_MS, limit })
      this.mayBeMore = due.length === limit
      // A step may take longer than its lease: that its claim came again made the lease longer, and no second step
      for (const claim of due) if (!this.running.has(claim.id)) this.waiting.set(claim.id, claim)
    } catch (error) {
      this.mayBeMore = false // or we would ask again at once
      log.warn({ err: error }, 'the claims that are due could not be read; they will be')
    }
  }

  /** Begins what waits, while there is room. What waits when we close is handed over. */
  private fill(): void {
    while (this.isOpen && this.running.size < this.slots) {
      const [claim] = this.waiting.values()
      if (!claim) break
      this.waiting.delete(claim.id)
      this.running.set(claim.id, this.run(claim))
    }
    if (this.isOpen && this.mayBeMore && this.waiting.size < this.slots) void this.takeDue()
  }

  private async run(claim: HeldClaim): Promise<void> {
    const outcome = await this.step(claim)
    this.running.delete(claim.id)
    this.listeners.get(claim.id)?.(outcome)
    this.fill()
  }

  /** Never throws: whatever fails here is tried again later. */
  private async step(claim: HeldClaim): Promise<StepOutcome | undefined> {
    const { log, onStep } = this.options
    try {
      return await this.stepOrThrow(claim)
    } catch (error) {
      const facts = { claim: claim.id, event: claim.eventId }
      if (!(error instanceof IssuerError)) {
        log.error({ ...facts, err: error }, 'a claim could not be looked after; it will be again')
        return undefined // the lease ends, and somebody takes it
      }
      onStep?.('unknown')
      log.warn(
        { ...facts, kind: error.kind, call: error.call, status: error.status },
        'no answer for a claim',
      )
      await this.rememberFailure(claim, error)
      return undefined
    }
  }

  private async rememberFailure(claim: HeldClaim, error: IssuerError): Promise<void> {
    const { db, clock, log } = this.options
    try {
      // Nothing is known of the token: that is no reason to look less often.
      const pauseMs = Math.max(pauseAfter({ ...claim, state: 'reserved' }), error.retryAfterMs ?? 0)
      await postponeClaim(db, claim, clock.nowMs() + Math.min(pauseMs, MINTING_MOST_MS))
      await addFailure(db, claim.eventId, error, clock.nowMs())
    } catch (failure) {
      log.error({ claim: claim.id, err: failure }, 'the database did not take the news of a claim')
    }
  }

  private async stepOrThrow(held: HeldClaim): Promise<StepOutcome | undefined> {
    const { vault, issuer, onStep } = this.options
    let claim = held
    for (let swaps = 0; swaps <= SWAPS_PER_STEP; swaps++) {
      const code = vault.open('claim-code', claim.sealed)
      const { state, address, attempts } = claim
      const move = await nextMove(issuer, { state, address, code, attempts })
      onStep?.(move.kind)
      if (move.kind !== 'swap') return this.apply(claim, move)
      const swapped = await this.swap(claim, move)
      if (!('codeId' in swapped)) return swapped
      claim = swapped
    }
    return this.postpone(claim)
  }

  private async apply(claim: HeldClaim, move: Exclude<Move, { kind: 'swap' }>): Promise<StepOutcome> {
    const { db, clock } = this.options
    const nowMs = clock.nowMs()
    switch (move.kind) {
      case 'accept':
        await this.accepted.add(claim, nowMs + MINTING_FIRST_MS)
        return { state: 'minting' }
      case 'confirm':
        await confirmClaim(db, claim, nowMs, move.txHash)
        return { state: 'minted' }
      case 'release':
        return this.giveUp(claim, { state: 'released', reason: 'already_held', code: 'free' })
      case 'fail':
        return this.giveUp(claim, { state: 'failed', reason: move.reason, code: move.code })
      case 'wait':
        return this.postpone(claim)
    }
  }

  /** @returns the claim with another code, or what became of it without one */
  private async swap(
    claim: HeldClaim,
    { code, reason }: Extract<Move, { kind: 'swap' }>,
  ): Promise<HeldClaim | StepOutcome> {
    const { db, clock } = this.options
    const swapped = await swapCode(db, claim, clock.nowMs(), code)
    if (swapped) return swapped
    if (await hasFreeCode(db, claim.eventId)) return this.postpone(claim)
    return this.giveUp(claim, { state: 'failed', reason, code })
  }

  private async giveUp(claim: HeldClaim, closing: Closing): Promise<StepOutcome> {
    const { db, clock } = this.options
    const isClosed = await closeClaim(db, claim, clock.nowMs(), closing)
    // Otherwise somebody else has moved it meanwhile: their news counts
    return isClosed ? { state: closing.state, reason: closing.reason } : { state: claim.state }
  }

  private async postpone(claim: HeldClaim): Promise<StepOutcome> {
    const { db, clock } = this.options
    await postponeClaim(db, claim, clock.nowMs() + pauseAfter(claim))
    return { state: claim.state }
  }
}

/**
 * How long a claim rests after a step without news: each pause is half as long again as the one before.
 *
 * @example
 * pauseAfter({ state: 'reserved', attempts: 2 }) // 2250
 */
export function pauseAfter({ state, attempts }: Pick<HeldClaim, 'state' | 'attempts'>): number {
  const firstMs = state === 'minting' ? MINTING_FIRST_MS : UNKNOWN_FIRST_MS
  const mostMs = state === 'minting' ? MINTING_MOST_MS : UNKNOWN_MOST_MS
  return Math.min(firstMs * 1.5 ** Math.min(attempts, 50), mostMs)
}
