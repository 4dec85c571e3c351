import { type Clock, SECOND_MS } from '../../clock.ts'

/** How many calls to one provider run at a time, and how many wait for their turn. */
export const MAX_RUNNING = 32
export const MAX_WAITING = 1_000
/** After so many failures in a row a provider is left alone. */
export const MAX_FAILURES = 5
/** For so long, unless it names a time itself. */
export const PAUSE_MS = 5 * SECOND_MS
const MAX_PAUSE_MS = 30 * SECOND_MS

/** A provider said nothing that can be used, or was not even asked. */
export class NoAnswerError extends Error {
  /** How long it asked to be left alone. */
  readonly retryAfterMs: number | undefined
  constructor(retryAfterMs?: number) {
    super('a presence provider gave no answer')
    this.name = 'NoAnswerError'
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * The way to one provider: narrow, and shut for a while when nobody is at the other end, so that a dead provider
 * does not make every claim wait until its time is up.
 *
 *   open ──MAX_FAILURES in a row, or told to wait──▶ shut ──PAUSE_MS or the time told──▶ one call tries
 *    ▲                                                ▲                                   │        │
 *    │                                                └───────────── it fails ────────────┘        │
 *    └────────────────────────────────────── it succeeds ──────────────────────────────────────────┘
 */
export class CircuitBreaker {
  private readonly clock: Clock
  private running = 0
  private readonly waiting: (() => void)[] = []
  private failuresInRow = 0
  private shutUntilMs = 0
  private isTrying = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** @throws {NoAnswerError} without a call while the breaker is shut or too many wait; else whatever the call throws */
  async pass<T>(call: () => Promise<T>): Promise<T> {
    if (this.isShut()) throw new NoAnswerError()
    await this.takePlace()
    try {
      return await this.watch(call)
    } finally {
      this.leavePlace()
    }
  }

  private async watch<T>(call: () => Promise<T>): Promise<T> {
    // Those before us may have failed while we waited
    if (this.isShut()) throw new NoAnswerError()
    const isTrial = this.failuresInRow >= MAX_FAILURES
    if (isTrial) this.isTrying = true
    try {
      const answer = await call()
      this.failuresInRow = 0
      return answer
    } catch (error) {
      this.noteFailure(error instanceof NoAnswerError ? error.retryAfterMs : undefined)
      throw error
    } finally {
      if (isTrial) this.isTrying = false
    }
  }

  private isShut(): boolean {
    if (this.failuresInRow < MAX_FAILURES) return false
    return this.isTrying || this.clock.nowMs() < this.shutUntilMs
  }

  private noteFailure(retryAfterMs: number | undefined): void {
    this.failuresInRow = retryAfterMs === undefined ? this.failuresInRow + 1 : MAX_FAILURES
    const restMs = Math.min(Math.max(retryAfterMs ?? 0, PAUSE_MS), MAX_PAUSE_MS)
    if (this.failuresInRow >= MAX_FAILURES) this.shutUntilMs = this.clock.nowMs() + restMs
  }

  private async takePlace(): Promise<void> {
    if (this.running < MAX_RUNNING) {
      this.running += 1
      return
    }
    if (this.waiting.length >= MAX_WAITING) throw new NoAnswerError()
    await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  /** Hands the place to the one that waits longest. */
  private leavePlace(): void {
    const next = this.waiting.shift()
    if (next) next()
    else this.running -= 1
  }
}
