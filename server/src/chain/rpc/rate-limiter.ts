import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Timing } from './timing.ts'

/** The first pause after a refusal without `Retry-After`; each further one in a row is twice as long. */
const FIRST_PAUSE_MS = SECOND_MS
const MAX_PAUSE_MS = MINUTE_MS

export interface RateLimiterOptions {
  /** How many requests run at the same time. */
  readonly maxInFlight: number
  /** Undefined: no limit but that of the node. */
  readonly callsPerSecond?: number | undefined
  readonly timing: Timing
  /** From 0 up to 1, for the jitter of pauses. */
  readonly random: () => number
  /** Ends all waiting. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Limits the rate of calls to one node: how many at the same time, how many in a second, and pauses when the node asks for them.
 * Requests start in the order in which they came.
 */
export class RateLimiter {
  private readonly options: RateLimiterOptions
  private running = 0
  private readonly waiting: (() => void)[] = []
  private refusalsInRow = 0
  private pausedUntilMs = Number.NEGATIVE_INFINITY
  private lastRefusalMs = Number.NEGATIVE_INFINITY
  private nextStartMs = Number.NEGATIVE_INFINITY

  constructor(options: RateLimiterOptions) {
    this.options = options
  }

  /** Requests that run now. */
  get inFlight(): number {
    return this.running
  }

  /** Milliseconds until the next request may start: 0 where there is no pause. */
  get pauseMs(): number {
    return Math.max(0, this.pausedUntilMs - this.options.timing.nowMs())
  }

  /**
   * Runs a request when its turn comes.
   *
   * @throws what `request` throws, and the reason of the signal
   */
  async run<T>(request: () => Promise<T>): Promise<T> {
    await this.takeSlot()
    try {
      await this.waitForRate()
      return await request()
    } finally {
      this.freeSlot()
    }
  }

  /** The node has refused a request because there were too many. */
  noteRefusal(retryAfterMs: number | undefined): void {
    const { timing, random } = this.options
    const nowMs = timing.nowMs()
    // Requests that ran at the same time are refused together: that is one refusal
    if (this.pausedUntilMs > nowMs && retryAfterMs === undefined) return
    const longestMs = Math.min(FIRST_PAUSE_MS * 2 ** this.refusalsInRow, MAX_PAUSE_MS)
    const jitteredMs = longestMs * (0.5 + random() / 2)
    this.refusalsInRow += 1
    this.lastRefusalMs = nowMs
    this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + Math.max(jitteredMs, retryAfterMs ?? 0))
  }

  /** A request that started at this time has been answered. */
  noteAnswer(startedMs: number): void {
    if (startedMs > this.lastRefusalMs) this.refusalsInRow = 0
  }

  private async takeSlot(): Promise<void> {
    if (this.running < this.options.maxInFlight) {
      this.running += 1
      return
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  /** The next in the queue gets the slot itself, so `running` stays the same. */
  private freeSlot(): void {
    const next = this.waiting.shift()
    if (next) next()
    else this.running -= 1
  }

  private async waitForRate(): Promise<void> {
    const { callsPerSecond, timing, signal } = this.options
    signal?.throwIfAborted()
    // A pause may have become longer while this request waited
    for (let restMs = this.pauseMs; restMs > 0; restMs = this.pauseMs) await timing.pause(restMs, signal)
    if (callsPerSecond === undefined) return
    const startMs = Math.max(timing.nowMs(), this.nextStartMs)
    this.nextStartMs = startMs + SECOND_MS / callsPerSecond
    if (startMs > timing.nowMs()) await timing.pause(startMs - timing.nowMs(), signal)
  }
}
