import { MINUTE_MS, SECOND_MS } from '../../clock.ts'

/** Time for pacing: it never jumps, unlike a clock on the wall, and goes on while a test's clock stands still. */
export interface Timing {
  nowMs(): number
  after(delayMs: number, then: () => void): void
}

const REAL_TIMING: Timing = {
  nowMs: () => performance.now(),
  after: (delayMs, then) => {
    setTimeout(then, delayMs)
  },
}

/** About 100 a minute: what the issuer's partners observed as its limit, where no number is documented. */
const SLOW_CALLS_PER_SECOND = 100 / 60
const SLOW_FOR_MS = 5 * MINUTE_MS
/** Who would wait longer is refused: a claim's worker has better things to do, and comes again. */
const MAX_WAIT_MS = 15 * SECOND_MS
const MAX_WAITING = 10_000
const MIN_BURST = 4

/** Nobody was called; it can be tried again after `retryAfterMs`. */
export class TooManyWaitingError extends Error {
  readonly retryAfterMs: number
  constructor(retryAfterMs: number) {
    super('too many calls are waiting for their turn')
    this.name = 'TooManyWaitingError'
    this.retryAfterMs = retryAfterMs
  }
}

interface Waiting {
  readonly go: () => void
  readonly refuse: (error: TooManyWaitingError) => void
}

/**
 * Spreads calls over time: so many per second on average, a few at once after a rest, those that have to wait in the
 * order in which they came. After {@link slowDown} it goes slowly for five minutes.
 *
 * A bucket of `allowance` calls is filled as time passes; a call takes one. Nobody may pass those who wait.
 *
 * @example
 * const pacer = new Pacer({ callsPerSecond: 4 })
 * await pacer.take() // undefined for the first four; the fifth waits for a quarter of a second
 */
export class Pacer {
  private readonly callsPerSecond: number
  private readonly timing: Timing
  private readonly queue: Waiting[] = []
  private allowance: number
  private filledAtMs: number
  private slowUntilMs = Number.NEGATIVE_INFINITY
  private pausedUntilMs = Number.NEGATIVE_INFINITY
  private isTimerSet = false

  constructor({ callsPerSecond, timing = REAL_TIMING }: { callsPerSecond: number; timing?: Timing }) {
    this.callsPerSecond = callsPerSecond
    this.timing = timing
    this.filledAtMs = timing.nowMs()
    this.allowance = this.burst(this.filledAtMs)
  }

  /**
   * Undefined: call now. Otherwise the turn of this caller comes when the promise is resolved. Not simply a promise:
   * at thousands of calls per second those that need not wait should cost nothing.
   *
   * @throws {TooManyWaitingError} at once, or as a rejection when the pace slows down meanwhile
   */
  take(): Promise<void> | undefined {
    const nowMs = this.timing.nowMs()
    this.fill(nowMs)
    if (this.queue.length === 0 && this.allowance >= 1 && nowMs >= this.pausedUntilMs) {
      this.allowance -= 1
      return undefined
    }
    const waitMs = this.waitMsOf(this.queue.length, nowMs)
    if (waitMs > MAX_WAIT_MS || this.queue.length >= MAX_WAITING) throw new TooManyWaitingError(waitMs)
    const turn = new Promise<void>((go, refuse) => this.queue.push({ go, refuse }))
    this.setTimer(nowMs)
    return turn
  }

  /**
   * The other side said that we are too fast.
   *
   * @param pauseMs how long it asked us to be silent
   */
  slowDown(pauseMs = 0): void {
    const nowMs = this.timing.nowMs()
    this.slowUntilMs = nowMs + SLOW_FOR_MS
    this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + pauseMs)
    this.allowance = 0
    this.filledAtMs = nowMs
    this.rejectLongWaits(nowMs)
  }

  private fill(nowMs: number): void {
    const gained = (nowMs - this.filledAtMs) * this.callsPerMs(nowMs)
    this.allowance = Math.min(this.burst(nowMs), this.allowance + gained)
    this.filledAtMs = nowMs
  }

  private isSlow(nowMs: number): boolean {
    return nowMs < this.slowUntilMs
  }

  private callsPerMs(nowMs: number): number {
    const perSecond = this.isSlow(nowMs)
      ? Math.min(SLOW_CALLS_PER_SECOND, this.callsPerSecond)
      : this.callsPerSecond
    return perSecond / SECOND_MS
  }

  /** How many calls may begin at once. A tenth of a second's at high rates: timers are no finer than that when busy. */
  private burst(nowMs: number): number {
    return this.isSlow(nowMs) ? 1 : Math.max(MIN_BURST, this.callsPerSecond / 10)
  }

  /** How long somebody with so many before them will wait. */
  private waitMsOf(before: number, nowMs: number): number {
    const pauseMs = Math.max(0, this.pausedUntilMs - nowMs)
    return pauseMs + Math.max(0, before + 1 - this.allowance) / this.callsPerMs(nowMs)
  }

  private rejectLongWaits(nowMs: number): void {
    while (this.queue.length > 0) {
      const waitMs = this.waitMsOf(this.queue.length - 1, nowMs)
      if (waitMs <= MAX_WAIT_MS) return
      this.queue.pop()?.refuse(new TooManyWaitingError(waitMs))
    }
  }

  private setTimer(nowMs: number): void {
    if (this.isTimerSet || this.queue.length === 0) return
    this.isTimerSet = true
    this.timing.after(Math.ceil(this.waitMsOf(0, nowMs)), () => this.startWaiting())
  }

  private startWaiting(): void {
    this.isTimerSet = false
    const nowMs = this.timing.nowMs()
    this.fill(nowMs)
    while (nowMs >= this.pausedUntilMs && this.allowance >= 1 && this.queue.length > 0) {
      this.allowance -= 1
      this.queue.shift()?.go()
    }
    this.setTimer(nowMs)
  }
}
