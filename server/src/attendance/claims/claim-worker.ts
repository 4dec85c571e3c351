import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../clock.ts'
import { type HeldClaim, releaseLeases, takeDueClaims } from './claim-queries.ts'
import type { StepOutcome } from './claim-writes.ts'
import { StepRunner, type StepRunnerOptions } from './step-runner.ts'

/** How long a process has a claim for itself. Claims of a process that died are free after this time. */
export const LEASE_MS = 30 * SECOND_MS
/** How often the database is polled for due claims. */
const POLL_INTERVAL_MS = SECOND_MS
/**
 * Steps that run at the same time: two for each allowed call per second. A step then waits a few seconds for its call at
 * most, and steps with a slow answer do not delay the others.
 */
const SLOTS_PER_CALL = 2
const MIN_SLOTS = 4
const MAX_SLOTS = 128

export interface ClaimWorkerOptions extends StepRunnerOptions {
  /** Allowed calls to the issuer per second; they decide how many steps run at the same time. */
  readonly callsPerSecond: number
}

/**
 * Runs the steps of claims until they are final: claims that this process reserved, and claims that another process
 * left unfinished. All state but the list of running and waiting claims is in the database, so a kill loses nothing.
 */
export class ClaimWorker {
  private readonly options: ClaimWorkerOptions
  private readonly slots: number
  /** Claims whose step runs now, and claims that wait for a slot. */
  private readonly running = new Map<number, { readonly claim: HeldClaim; readonly done: Promise<void> }>()
  private readonly waiting = new Map<number, HeldClaim>()
  private readonly listeners = new Map<number, (outcome: StepOutcome | undefined) => void>()
  private readonly runner: StepRunner
  private isOpen = false
  private taking: Promise<void> | undefined
  /** Whether the last poll found as many claims as it could take. */
  private mayBeMore = false
  private polling: Promise<void> = Promise.resolve()
  private readonly stop = new AbortController()

  constructor(options: ClaimWorkerOptions) {
    this.options = options
    this.runner = new StepRunner(options, () => this.taking)
    this.slots = Math.min(Math.max(SLOTS_PER_CALL * options.callsPerSecond, MIN_SLOTS), MAX_SLOTS)
  }

  /** Begins to poll for due claims. */
  start(): void {
    this.isOpen = true
    this.polling = this.poll()
  }

  /** Whether this process can start a new claim soon: then the caller reserves it with a lease. */
  get hasRoom(): boolean {
    return this.isOpen && this.waiting.size < this.slots
  }

  /** Adds a claim that the caller has just reserved with a lease of {@link LEASE_MS}. */
  take(claim: HeldClaim): void {
    this.waiting.set(claim.id, claim)
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
    const done = Promise.all([...this.running.values()].map((step) => step.done))
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
        const lease = this.running.get(claim.id)?.claim.lease
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
      this.running.set(claim.id, { claim, done: this.run(claim) })
    }
    if (this.isOpen && this.mayBeMore && this.waiting.size < this.slots) void this.takeDue()
  }

  private runningClaims(): readonly HeldClaim[] {
    return [...this.running.values()].map(({ claim }) => claim)
  }

  private async run(claim: HeldClaim): Promise<void> {
    const outcome = await this.runner.run(claim)
    this.running.delete(claim.id)
    this.listeners.get(claim.id)?.(outcome)
    this.fill()
  }
}
