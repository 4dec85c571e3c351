import { type Clock, SECOND_MS, steadyMs } from '../../clock.ts'

/** How many calls to one provider run at the same time, and how many wait for that. */
export const MAX_RUNNING = 32
export const MAX_WAITING = 1_000
/** So many failures in a row open the circuit. */
export const MAX_FAILURES = 5
/** How long the circuit stays open, unless the provider asks for a longer time. */
export const PAUSE_MS = 5 * SECOND_MS
const MAX_PAUSE_MS = 30 * SECOND_MS

/** A provider gave no usable answer, or was not called. */
export class NoAnswerError extends Error {
  /** From `Retry-After` of the provider. */
  readonly retryAfterMs: number | undefined
  constructor(retryAfterMs?: number) {
    super('a presence provider gave no answer')
    this.name = 'NoAnswerError'
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Circuit breaker for the calls to one provider, with a limit of parallel calls. While a provider is down, claims do
 * not wait for its timeout.
 *
 *   closed ──MAX_FAILURES in a row, or Retry-After──▶ open ──PAUSE_MS or Retry-After──▶ half-open: one call
 *    ▲                                                ▲                                   │        │
 *    │                                                └────────────── fails ──────────────┘        │
 *    └─────────────────────────────────────── succeeds ────────────────────────────────────────────┘
 */
export class CircuitBreaker {
  private readonly clock: Clock
  private running = 0
  private readonly waiting: (() => void)[] = []
  private failuresInRow = 0
  private openUntilMs = 0
  private isTrialRunning = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** @throws {NoAnswerError} without a call while the circuit is open or too many calls wait; else what `call` throws */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.isOpen()) throw new NoAnswerError()
    await this.takeSlot()
    try {
      return await this.callNow(call)
    } finally {
      this.freeSlot()
    }
  }

  private async callNow<T>(call: () => Promise<T>): Promise<T> {
    // Earlier calls may have failed while this one waited
    if (this.isOpen()) throw new NoAnswerError()
    const isTrial = this.failuresInRow >= MAX_FAILURES
    if (isTrial) this.isTrialRunning = true
    try {
      const answer = await call()
      this.failuresInRow = 0
      return answer
    } catch (error) {
      this.noteFailure(error instanceof NoAnswerError ? error.retryAfterMs : undefined)
      throw error
    } finally {
      if (isTrial) this.isTrialRunning = false
    }
  }

  private isOpen(): boolean {
    if (this.failuresInRow < MAX_FAILURES) return false
    return this.isTrialRunning || steadyMs(this.clock) < this.openUntilMs
  }

  private noteFailure(retryAfterMs: number | undefined): void {
    this.failuresInRow = retryAfterMs === undefined ? this.failuresInRow + 1 : MAX_FAILURES
    const restMs = Math.min(Math.max(retryAfterMs ?? 0, PAUSE_MS), MAX_PAUSE_MS)
    if (this.failuresInRow >= MAX_FAILURES) this.openUntilMs = steadyMs(this.clock) + restMs
  }

  private async takeSlot(): Promise<void> {
    if (this.running < MAX_RUNNING) {
      this.running += 1
      return
    }
    if (this.waiting.length >= MAX_WAITING) throw new NoAnswerError()
    await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  /** Gives the slot to the call that waits longest. */
  private freeSlot(): void {
    const next = this.waiting.shift()
    if (next) next()
    else this.running -= 1
  }
}
