import { MINUTE_MS, SECOND_MS } from '../../clock.ts'

/** Monotonic time and timers, so that tests can replace them. */
export interface Timing {
  nowMs(): number
  after(delayMs: number, callback: () => void): void
}

const REAL_TIMING: Timing = {
  nowMs: () => performance.now(),
  after: (delayMs, callback) => {
    setTimeout(callback, delayMs)
  },
}

/** About 100 a minute: the limit that partners of the issuer observed; no number is documented. */
const SLOW_CALLS_PER_SECOND = 100 / 60
const SLOW_FOR_MS = 5 * MINUTE_MS
/** A call that would wait longer is refused; the claim worker tries again later. */
const MAX_WAIT_MS = 15 * SECOND_MS
const MAX_WAITING = 10_000
const MIN_BURST = 4

/** The call was not made; it can be tried again after `retryAfterMs`. */
export class TooManyWaitingError extends Error {
  readonly retryAfterMs: number
  constructor(retryAfterMs: number) {
    super('too many calls to the issuer are waiting')
    this.name = 'TooManyWaitingError'
    this.retryAfterMs = retryAfterMs
  }
}

interface Waiting {
  readonly start: () => void
  readonly refuse: (error: TooManyWaitingError) => void
}

/**
 * Limits the rate of calls: a token bucket with a first-in first-out queue. It allows `callsPerSecond` on average, and a
 * few calls at once after a pause. After {@link slowDown} the rate is lower for five minutes.
 *
 * `allowance` is the number of calls that may start now; it grows with time, and each call takes one.
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
   * Undefined: the caller may call now. Otherwise it may call when the promise resolves. There is no promise without a
   * wait because promises are too slow for thousands of calls per second.
   *
   * @throws {TooManyWaitingError} at once, or as a rejection when {@link slowDown} makes the wait too long
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
    const turn = new Promise<void>((start, refuse) => this.queue.push({ start, refuse }))
    this.setTimer(nowMs)
    return turn
  }

  /**
   * Lowers the rate, after the issuer answered that there are too many requests.
   *
   * @param pauseMs how long no call may start
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

  /** How many calls may start at once: those of 100 ms, because timers of a busy process are not more exact. */
  private burst(nowMs: number): number {
    return this.isSlow(nowMs) ? 1 : Math.max(MIN_BURST, this.callsPerSecond / 10)
  }

  /** How long a call waits that has `before` calls before it in the queue. */
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
      this.queue.shift()?.start()
    }
    this.setTimer(nowMs)
  }
}
