import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { ClaimState } from '../../db/schema.ts'
import type { EventHolds } from '../events/event-holds.ts'
import { type HeldEvent, wakeClaims } from '../events/hold-queries.ts'
import { addFailure } from '../issuer/failure-queries.ts'
import { type Issuer, IssuerError } from '../issuer/issuer.ts'
import { UnreadableSecretError, type Vault } from '../vault.ts'
import { Batches } from './batches.ts'
import {
  type AcceptedClaim,
  acceptClaims,
  type Closing,
  closeClaim,
  confirmClaim,
  type HeldClaim,
  hasFreeCode,
  type LeaseRenewal,
  postponeClaim,
  postponeUnasked,
  releaseLeases,
  renewLeases,
  swapCode,
  takeDueClaims,
  waitForProbe,
  wereCodesListed,
} from './claim-queries.ts'
import { type Move, moveForUnreadableCode, nextMove } from './claim-steps.ts'
import { type SignedClaim, storeSigned } from './sign-queries.ts'
import { UsedCodes } from './used-codes.ts'

/** How long a process has a claim for itself. Claims of a process that died are free after this time. */
export const LEASE_MS = 30 * SECOND_MS
/**
 * How much longer than one call to the issuer the lease is when a token is requested. The renewal itself may take so
 * long: then the request still ends within the lease, however long the process was suspended meanwhile.
 */
const RENEWAL_MARGIN_MS = 5 * SECOND_MS
const RENEWAL_TRIES = 3
/** How often the database is polled for due claims. */
const POLL_INTERVAL_MS = SECOND_MS
/**
 * Steps that run at the same time: two for each allowed call per second. A step then waits a few seconds for its call at
 * most, and steps with a slow answer do not delay the others.
 */
const SLOTS_PER_CALL = 2
const MIN_SLOTS = 4
const MAX_SLOTS = 128
/** How many codes one step tries; then the claim is postponed. */
const SWAPS_PER_STEP = 5
/** Used codes contradict the issuer's list if that is younger. */
const LISTED_WITHIN_MS = 5 * MINUTE_MS
/** First and longest pause between two checks of a token that is being made, which takes a minute or more. */
const MINTING_FIRST_MS = 10 * SECOND_MS
const MINTING_MOST_MS = 5 * MINUTE_MS
/** The same for a claim with an unknown outcome; shorter, because a player waits for it. */
const UNKNOWN_FIRST_MS = SECOND_MS
const UNKNOWN_MOST_MS = 15 * SECOND_MS

/** The result of a step. */
export interface StepOutcome {
  readonly state: ClaimState
  /** Why the claim was closed. */
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
  readonly issuer: Pick<Issuer, 'readCode' | 'mint' | 'sign'>
  /** How long one call to the issuer takes at most. */
  readonly issuerTimeoutMs: number
  readonly holds: Pick<EventHolds, 'findHeld' | 'mayAsk' | 'contradicted' | 'forget'>
  /** Allowed calls to the issuer per second; they decide how many steps run at the same time. */
  readonly callsPerSecond: number
  readonly log: ClaimLog
  /**
   * Called with every move, with `unknown` for a step without a definite answer, `held` for one of a held event, and
   * `lost` for one that wrote nothing because another process has taken the claim over.
   */
  readonly onStep?: (result: Move['kind'] | 'unknown' | 'held' | 'lost') => void
}

/** Claims under way, by their id. */
type Steps = Map<number, { readonly claim: HeldClaim; readonly done: Promise<void> }>

/** Another process has taken the claim over. */
class LeaseLostError extends Error {}

/**
 * Runs the steps of claims until they are final: claims that this process reserved, and claims that another process
 * left unfinished. All state but the list of running and waiting claims is in the database, so a kill loses nothing.
 */
export class ClaimWorker {
  private readonly options: ClaimWorkerOptions
  private readonly slots: number
  /** Claims whose step runs now, and claims that wait for a slot. */
  private readonly running: Steps = new Map()
  /** Claims whose token is signed here in their first step: without a call to another service, so without a slot. */
  private readonly signing: Steps = new Map()
  private readonly waiting = new Map<number, HeldClaim>()
  private readonly listeners = new Map<number, (outcome: StepOutcome | undefined) => void>()
  private readonly accepted: Batches<AcceptedClaim, boolean>
  private readonly renewals: Batches<LeaseRenewal, boolean>
  private readonly signed: Batches<SignedClaim, boolean>
  private readonly usedCodes = new UsedCodes()
  private isOpen = false
  private taking: Promise<void> | undefined
  /** Whether the last poll found as many claims as it could take. */
  private mayBeMore = false
  private polling: Promise<void> = Promise.resolve()
  private readonly stop = new AbortController()

  constructor(options: ClaimWorkerOptions) {
    this.options = options
    const { db, clock } = options
    this.accepted = new Batches(async (claims) => {
      const { isWritten, ended } = await acceptClaims(db, claims, clock.nowMs())
      for (const hold of ended) await this.endHold(hold)
      return isWritten
    })
    this.renewals = new Batches((renewals) => renewLeases(db, renewals))
    this.signed = new Batches((claims) => storeSigned(db, claims, clock.nowMs()))
    this.slots = Math.min(Math.max(SLOTS_PER_CALL * options.callsPerSecond, MIN_SLOTS), MAX_SLOTS)
  }

  /** Begins to poll for due claims. */
  start(): void {
    this.isOpen = true
    this.polling = this.poll()
  }

  /** Whether this process can start a new claim soon: then the caller reserves it with a lease. */
  hasRoomFor({ token }: Pick<HeldClaim, 'token'>): boolean {
    return this.isOpen && (token !== undefined || this.waiting.size < this.slots)
  }

  /** Adds a claim that the caller has just reserved with a lease of {@link LEASE_MS}. */
  take(claim: HeldClaim): void {
    if (claim.token && this.isOpen) this.begin(claim, this.signing)
    else this.waiting.set(claim.id, claim)
    this.fill()
  }

  /**
   * The result of the next step of a claim in this process. Undefined after `waitMs`, when the worker closes, and when
   * the issuer gave no answer.
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

  /** Waits up to `timeoutMs` for running steps, and releases the leases of all other claims. */
  async close(timeoutMs: number): Promise<void> {
    this.isOpen = false
    this.stop.abort()
    for (const answer of [...this.listeners.values()]) answer(undefined)
    await Promise.all([this.polling, this.taking])
    const { db, clock } = this.options
    const left = [...this.waiting.values()]
    this.waiting.clear()
    const done = Promise.all([...this.running.values(), ...this.signing.values()].map((step) => step.done))
    await Promise.race([done, sleep(timeoutMs, undefined, { ref: false })])
    await releaseLeases(db, [...left, ...this.runningClaims()], clock.nowMs()).catch((error) =>
      this.options.log.error(
        { err: error },
        'the leases of claims could not be released; they end by themselves',
      ),
    )
  }

  private async poll(): Promise<void> {
    while (this.isOpen) {
      await this.takeDue()
      await sleep(POLL_INTERVAL_MS, undefined, { signal: this.stop.signal }).catch(() => undefined)
    }
  }

  /** Takes due claims: as many as there are slots, and as many more to wait. */
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
      for (const claim of due) {
        const lease = (this.running.get(claim.id) ?? this.signing.get(claim.id))?.claim.lease
        if (!lease) this.waiting.set(claim.id, claim)
        // A step may take longer than its lease: taking its claim again extends the lease, without a second step. But
        // if another process had the claim since, the step goes by old facts: it is lost, and this lease ends unused
        else if (lease.untilMs === claim.dueAtMs) lease.untilMs = claim.lease.untilMs
      }
    } catch (error) {
      this.mayBeMore = false // otherwise `fill` would poll again at once
      log.warn({ err: error }, 'due claims could not be read; the read will be tried again')
    }
  }

  /** Starts waiting claims while a slot is free; after `close` none is started. */
  private fill(): void {
    while (this.isOpen && this.running.size < this.slots) {
      const [claim] = this.waiting.values()
      if (!claim) break
      this.waiting.delete(claim.id)
      this.begin(claim, this.running)
    }
    if (this.isOpen && this.mayBeMore && this.waiting.size < this.slots) void this.takeDue()
  }

  private runningClaims(): readonly HeldClaim[] {
    return [...this.running.values(), ...this.signing.values()].map(({ claim }) => claim)
  }

  private begin(claim: HeldClaim, steps: Steps): void {
    steps.set(claim.id, { claim, done: this.run(claim, steps) })
  }

  private async run(claim: HeldClaim, steps: Steps): Promise<void> {
    const outcome = await this.step(claim)
    steps.delete(claim.id)
    this.listeners.get(claim.id)?.(outcome)
    this.fill()
  }

  /** Never throws: a failed step is tried again later. */
  private async step(held: HeldClaim): Promise<StepOutcome | undefined> {
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
      await this.write(claim, async () => assertOurs(await write(db, claim, nextStepAtMs)))
      onStep?.('unknown')
      await addFailure(db, claim.eventId, error, clock.nowMs())
    } catch (failure) {
      this.reportFailure(claim, failure)
    }
  }

  /**
   * Does a write of a step, which changes nothing unless this process still has the claim.
   *
   * @throws {LeaseLostError} when another process has taken the claim over
   */
  private async write<Result>({ lease }: HeldClaim, work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      const seenUntilMs = lease.untilMs
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
        // This process may have extended the lease itself in the meantime: then once more
        await this.taking
        if (lease.untilMs === seenUntilMs) throw error
      }
    }
  }

  /** @param step keeps the claim with the code that it has now, also when this throws */
  private async stepOrThrow(step: { claim: HeldClaim }): Promise<StepOutcome | undefined> {
    const { issuer, onStep } = this.options
    if (await this.isWaitingForProbe(step.claim)) return { state: step.claim.state }
    if (await this.isSigned(step.claim)) return { state: 'minted' }
    for (let swaps = 0; swaps <= SWAPS_PER_STEP; swaps++) {
      const { claim } = step
      const code = this.openCode(claim)
      const { state, address, attempts, wasAsked } = claim
      const move =
        code === undefined
          ? moveForUnreadableCode(claim)
          : await nextMove(issuer, { state, address, code, attempts, wasAsked }, () => this.renewLease(claim))
      onStep?.(move.kind)
      if (move.kind !== 'swap' && move.kind !== 'doubt') return this.apply(claim, move)
      const swapped = move.kind === 'swap' ? await this.swap(claim, move, swaps > 0) : await this.doubt(claim)
      if (!('codeId' in swapped)) return swapped
      step.claim = swapped
    }
    return this.postpone(step.claim)
  }

  /**
   * Has the token of a claim signed that this process has just reserved, and stores claim and signature together. False
   * for all other claims, and where this changed nothing: then {@link nextMove} finds out what to do.
   */
  private async isSigned(claim: HeldClaim): Promise<boolean> {
    const { issuer, onStep } = this.options
    const { token, address } = claim
    const code = token && this.openCode(claim)
    const signed = code === undefined ? undefined : await issuer.sign?.(code, { ...token!, address })
    if (!token || !signed || !(await this.signed.add({ claim, token, signed }))) return false
    onStep?.('confirm')
    return true
  }

  /** Undefined, with an alarm in the log, for a code that no key of this process decrypts. */
  private openCode({ id, eventId, codeId, sealed }: HeldClaim): string | undefined {
    const { vault, log } = this.options
    try {
      return vault.open('claim-code', sealed, String(eventId))
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error
      log.error({ claim: id, event: eventId, code: codeId, err: error }, 'the code of a claim cannot be used')
      return undefined
    }
  }

  /** Whether the event is held, and the claim may not ask now: then it waits until the next probe. */
  private async isWaitingForProbe(claim: HeldClaim): Promise<boolean> {
    const { db, clock, holds, onStep } = this.options
    if (claim.state !== 'reserved') return false
    const hold = await holds.findHeld(claim.eventId)
    if (!hold || (await holds.mayAsk(hold))) return false
    onStep?.('held')
    const probe = { atMs: hold.probe_at_ms, nowMs: clock.nowMs() }
    await this.write(claim, async () => assertOurs(await waitForProbe(db, claim, probe)))
    return true
  }

  /**
   * Called immediately before a token is requested: makes the lease longer than the request, and stores that the issuer
   * is asked.
   *
   * @throws {LeaseLostError} when another process has taken the claim over, for example because this one was suspended
   */
  private async renewLease(claim: HeldClaim): Promise<void> {
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
      await this.taking
      if (lease.untilMs === seenUntilMs) throw new LeaseLostError()
    }
    throw new IssuerError('busy', { call: 'mint' }) // nothing was requested; the claim is tried again
  }

  private async apply(
    claim: HeldClaim,
    move: Exclude<Move, { kind: 'swap' | 'doubt' }>,
  ): Promise<StepOutcome> {
    const { db, clock } = this.options
    const nowMs = clock.nowMs()
    switch (move.kind) {
      case 'accept':
        await this.write(claim, async () =>
          assertOurs(await this.accepted.add({ claim, nextStepAtMs: nowMs + MINTING_FIRST_MS })),
        )
        this.usedCodes.forget(claim.eventId)
        return { state: 'minting' }
      case 'confirm':
        await this.write(claim, async () => assertOurs(await confirmClaim(db, claim, nowMs, move.txHash)))
        return { state: 'minted' }
      case 'release':
        return this.release(claim, move)
      case 'fail':
        return this.closeAs(claim, { state: 'failed', reason: move.reason, code: move.code })
      case 'wait':
        return this.postpone(claim)
    }
  }

  /**
   * @param isNew whether this step took the code: a code that the claim held for longer may well be used
   * @returns the claim with another code, or the result when there is none
   */
  private async swap(
    claim: HeldClaim,
    { code, reason }: Extract<Move, { kind: 'swap' }>,
    isNew: boolean,
  ): Promise<HeldClaim | StepOutcome> {
    const { db, clock } = this.options
    if (code === 'used_elsewhere' && isNew && (await this.contradictsList(claim))) return this.hold(claim)
    const swapped = await this.write(claim, async () =>
      assertOurs(await swapCode(db, claim, clock.nowMs(), code)),
    )
    if (swapped) return swapped
    if (await hasFreeCode(db, claim.eventId)) return this.postpone(claim)
    return this.closeAs(claim, { state: 'failed', reason, code })
  }

  /** Whether code after code is used that the issuer listed as unused a short time ago. Codes of an older list may well be. */
  private async contradictsList(claim: HeldClaim): Promise<boolean> {
    if (!this.usedCodes.isContradiction(claim)) return false
    return wereCodesListed(this.options.db, claim.eventId, this.options.clock.nowMs() - LISTED_WITHIN_MS)
  }

  /** Holds the event whose codes are used by others, one after the other. The claim keeps its code, and waits. */
  private async hold(claim: HeldClaim): Promise<StepOutcome> {
    const { clock, holds, log } = this.options
    const { eventId, state } = claim
    const about = { eventId, reason: 'other_beneficiary' as const, codeId: null, isRepeated: true }
    await this.write(claim, () =>
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
  private async doubt(claim: HeldClaim): Promise<HeldClaim | StepOutcome> {
    const { clock, holds, log } = this.options
    const { eventId, codeId } = claim
    const isAccepted = claim.state === 'minting'
    const about = { eventId, reason: 'unknown_codes' as const, codeId: isAccepted ? null : codeId }
    const swapped = await this.write(claim, () =>
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
    return hold ? { state: claim.state } : this.postpone(claim)
  }

  private async release(
    claim: HeldClaim,
    { reason, code }: Extract<Move, { kind: 'release' }>,
  ): Promise<StepOutcome> {
    const { clock, holds, log } = this.options
    const closing = { state: 'released', reason, code } as const
    if (reason === 'already_held') return this.closeAs(claim, closing)
    const { eventId } = claim
    await this.write(claim, () =>
      holds.contradicted({ eventId, reason, codeId: null }, async (tx, hold) => {
        assertOurs(await closeClaim(tx, claim, clock.nowMs(), closing))
        if (hold.answers === 2) logHold(log, eventId, 'it gives tokens of claims to somebody else')
      }),
    )
    return { state: 'released', reason }
  }

  /** Claims that waited for the probe go on. */
  private async endHold(ended: HeldEvent): Promise<void> {
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

  private async closeAs(claim: HeldClaim, closing: Closing): Promise<StepOutcome> {
    const { db, clock } = this.options
    await this.write(claim, async () => assertOurs(await closeClaim(db, claim, clock.nowMs(), closing)))
    return { state: closing.state, reason: closing.reason }
  }

  private async postpone(claim: HeldClaim): Promise<StepOutcome> {
    const { db, clock } = this.options
    const nextStepAtMs = clock.nowMs() + pauseAfter(claim)
    await this.write(claim, async () => assertOurs(await postponeClaim(db, claim, nextStepAtMs)))
    return { state: claim.state }
  }
}

/** @throws {LeaseLostError} when a write found that another process has the claim */
function assertOurs<Result>(written: Result | false): Result {
  if (written === false) throw new LeaseLostError()
  return written
}

function logHold(log: ClaimLog, eventId: number, what: string): void {
  log.error({ event: eventId }, `the issuer contradicts itself: ${what}. The claims of the event are held`)
}

/**
 * The pause in milliseconds after a step that changed nothing. Each pause is 1.5 times the one before.
 *
 * @example
 * pauseAfter({ state: 'reserved', attempts: 2 }) // 2250
 */
export function pauseAfter({ state, attempts }: Pick<HeldClaim, 'state' | 'attempts'>): number {
  const firstMs = state === 'minting' ? MINTING_FIRST_MS : UNKNOWN_FIRST_MS
  const mostMs = state === 'minting' ? MINTING_MOST_MS : UNKNOWN_MOST_MS
  return Math.min(firstMs * 1.5 ** Math.min(attempts, 50), mostMs)
}
