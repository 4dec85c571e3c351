import { MINUTE_MS, SECOND_MS } from '../../../clock.ts'

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

/**
 * Who a call is for. `claim`: a player. `organiser`: somebody who has proved to be the organiser of an event. `paid`: an
 * edit code with a proof of work. `unproven`: an edit code from anybody.
 */
export type CallClass = 'claim' | 'organiser' | 'paid' | 'unproven'

/** The share of all calls that organisers get although players wait. */
const ORGANISER_SHARE = 1 / 4
/** The share of all calls that `paid` and `unproven` get together: always, and never more. */
const STRANGER_SHARE = 1 / 8
const SLOW_FOR_MS = 5 * MINUTE_MS
/** A call that would wait longer is refused; the claim worker tries again later. */
const MAX_WAIT_MS: Readonly<Record<CallClass, number>> = {
  claim: 15 * SECOND_MS,
  organiser: 15 * SECOND_MS,
  paid: 15 * SECOND_MS,
  unproven: 10 * SECOND_MS,
}
const MAX_WAITING = 10_000
/** How many calls of one network address wait, so that one address does not fill the queue of all strangers. */
const MAX_WAITING_OF_ADDRESS: Readonly<Partial<Record<CallClass, number>>> = { paid: 2, unproven: 1 }
const MIN_BURST = 4
const MIN_SHARE_BURST = 2

/** The call was not made; it can be tried again after `retryAfterMs`. */
export class TooManyWaitingError extends Error {
  readonly retryAfterMs: number
  /** No call of any class starts for a while: the issuer has asked for a pause. */
  readonly isPause: boolean
  constructor(retryAfterMs: number, isPause: boolean) {
    super('too many calls to the issuer are waiting')
    this.name = 'TooManyWaitingError'
    this.retryAfterMs = retryAfterMs
    this.isPause = isPause
  }
}

export interface PacerOptions {
  readonly callsPerSecond: number
  /** The rate after {@link Pacer.slowDown}, where it is the lower one. */
  readonly slowCallsPerSecond: number
  readonly timing?: Timing
}

interface Waiting {
  readonly from: string | undefined
  readonly start: () => void
  readonly refuse: (error: TooManyWaitingError) => void
}

/** A token bucket: the number of calls that may start now. It grows with time, and each call takes one. */
interface Bucket {
  allowance: number
  /** Calls per millisecond, at a rate of all calls. */
  readonly rate: (callsPerMs: number) => number
  /** How many calls may start at once after a pause. */
  readonly burst: (callsPerMs: number, isSlow: boolean) => number
}

/**
 * Limits the rate of calls: a token bucket with a first-in first-out queue for each {@link CallClass}. It allows
 * `callsPerSecond` on average, and a few calls at once after a pause. After {@link slowDown} the rate is lower for five
 * minutes.
 *
 * Every call takes one from the bucket of all calls. Who takes it:
 *
 * 1. a waiting organiser, while the organisers' bucket (a quarter of the rate) has one;
 * 2. a waiting stranger, while the strangers' bucket (an eighth of the rate) has one: paid before unproven;
 * 3. a claim;
 * 4. an organiser, from what the claims leave.
 *
 * So claims have at least five eighths of the rate, an organiser waits for other organisers only, and strangers never
 * have more than an eighth. Of one network address one unproven call waits, and two paid ones.
 *
 * @example
 * const pacer = new Pacer({ callsPerSecond: 4, slowCallsPerSecond: 1.5 })
 * await pacer.take('claim') // undefined for the first four; the fifth waits for a quarter of a second
 */
export class Pacer {
  private readonly callsPerSecond: number
  private readonly slowCallsPerSecond: number
  private readonly timing: Timing
  private readonly queues: Readonly<Record<CallClass, Waiting[]>> = {
    claim: [],
    organiser: [],
    paid: [],
    unproven: [],
  }
  private readonly all: Bucket = {
    allowance: 0,
    rate: (callsPerMs) => callsPerMs,
    // Those of 100 ms, because timers of a busy process are not more exact
    burst: (callsPerMs, isSlow) => (isSlow ? 1 : Math.max(MIN_BURST, callsPerMs * 100)),
  }
  private readonly organisers = shareOf(ORGANISER_SHARE)
  private readonly strangers = shareOf(STRANGER_SHARE)
  private filledAtMs: number
  private slowUntilMs = Number.NEGATIVE_INFINITY
  private pausedUntilMs = Number.NEGATIVE_INFINITY
  /** When the earliest timer fires; later ones find nothing to do. */
  private timerAtMs = Number.POSITIVE_INFINITY

  constructor({ callsPerSecond, slowCallsPerSecond, timing = REAL_TIMING }: PacerOptions) {
    this.callsPerSecond = callsPerSecond
    this.slowCallsPerSecond = Math.min(slowCallsPerSecond, callsPerSecond)
    this.timing = timing
    this.filledAtMs = timing.nowMs()
    const callsPerMs = this.callsPerMs(this.filledAtMs)
    for (const bucket of this.buckets()) bucket.allowance = bucket.burst(callsPerMs, false)
  }

  /**
   * Undefined: the caller may call now. Otherwise it may call when the promise resolves. There is no promise without a
   * wait because promises are too slow for thousands of calls per second.
   *
   * @param from the network address of the sender, where it is known
   * @throws {TooManyWaitingError} at once, or as a rejection when {@link slowDown} makes the wait too long
   */
  take(callClass: CallClass, from?: string): Promise<void> | undefined {
    const nowMs = this.timing.nowMs()
    this.fill(nowMs)
    if (
      this.next(nowMs) === undefined &&
      this.queues[callClass].length === 0 &&
      this.mayStart(callClass, nowMs)
    ) {
      this.spend(callClass)
      return undefined
    }
    this.assertRoom(callClass, nowMs, from)
    const turn = new Promise<void>((start, refuse) => this.queues[callClass].push({ from, start, refuse }))
    this.setTimer(nowMs)
    return turn
  }

  /**
   * How long a new call would wait, in milliseconds: at most so long for organisers and strangers, about so long for
   * claims.
   *
   * @throws {TooManyWaitingError} where {@link take} would
   */
  waitMs(callClass: CallClass, from?: string): number {
    const nowMs = this.timing.nowMs()
    this.fill(nowMs)
    return this.assertRoom(callClass, nowMs, from)
  }

  /** How many calls per second claims have, while the others wait as they do now. */
  claimCallsPerSecond(): number {
    return SECOND_MS * this.callsPerMs(this.timing.nowMs()) * this.shareOfClaims()
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
    for (const bucket of this.buckets()) bucket.allowance = 0
    this.filledAtMs = nowMs
    for (const callClass of CLASSES) this.rejectLongWaits(callClass, nowMs)
  }

  private buckets(): readonly Bucket[] {
    return [this.all, this.organisers, this.strangers]
  }

  private fill(nowMs: number): void {
    const callsPerMs = this.callsPerMs(nowMs)
    const passedMs = nowMs - this.filledAtMs
    for (const bucket of this.buckets()) {
      const full = bucket.burst(callsPerMs, this.isSlow(nowMs))
      bucket.allowance = Math.min(full, bucket.allowance + passedMs * bucket.rate(callsPerMs))
    }
    this.filledAtMs = nowMs
  }

  private isSlow(nowMs: number): boolean {
    return nowMs < this.slowUntilMs
  }

  private callsPerMs(nowMs: number): number {
    return (this.isSlow(nowMs) ? this.slowCallsPerSecond : this.callsPerSecond) / SECOND_MS
  }

  /** Whether a call of the class may start, if none waits. */
  private mayStart(callClass: CallClass, nowMs: number): boolean {
    if (nowMs < this.pausedUntilMs || !hasOne(this.all)) return false
    return !isStranger(callClass) || hasOne(this.strangers)
  }

  /** The class whose first waiting call may start now. */
  private next(nowMs: number): CallClass | undefined {
    if (nowMs < this.pausedUntilMs || !hasOne(this.all)) return undefined
    const { claim, organiser, paid, unproven } = this.queues
    if (organiser.length > 0 && hasOne(this.organisers)) return 'organiser'
    if (hasOne(this.strangers)) {
      if (paid.length > 0) return 'paid'
      if (unproven.length > 0) return 'unproven'
    }
    if (claim.length > 0) return 'claim'
    return organiser.length > 0 ? 'organiser' : undefined
  }

  private spend(callClass: CallClass): void {
    this.all.allowance -= 1
    // What organisers get beyond their share is what the claims leave
    if (callClass === 'organiser') this.organisers.allowance = Math.max(0, this.organisers.allowance - 1)
    if (isStranger(callClass)) this.strangers.allowance -= 1
  }

  /** @returns how long a call of the class would wait */
  private assertRoom(callClass: CallClass, nowMs: number, from: string | undefined): number {
    const waiting = this.queues[callClass].length
    const waitMs = this.waitMsOf(callClass, waiting, nowMs)
    if (waitMs > MAX_WAIT_MS[callClass] || waiting >= MAX_WAITING || !this.hasRoomFor(callClass, from))
      throw this.tooManyWaiting(callClass, waitMs, nowMs)
    return waitMs
  }

  private hasRoomFor(callClass: CallClass, from: string | undefined): boolean {
    const most = MAX_WAITING_OF_ADDRESS[callClass]
    if (most === undefined || from === undefined) return true
    return this.queues[callClass].filter((waiting) => waiting.from === from).length < most
  }

  private tooManyWaiting(callClass: CallClass, waitMs: number, nowMs: number): TooManyWaitingError {
    return new TooManyWaitingError(waitMs, this.pausedUntilMs - nowMs > MAX_WAIT_MS[callClass])
  }

  /** How long a call waits that has `before` calls of its class before it in the queue. */
  private waitMsOf(callClass: CallClass, before: number, nowMs: number): number {
    const callsPerMs = this.callsPerMs(nowMs)
    const pauseMs = Math.max(0, this.pausedUntilMs - nowMs)
    const ofAll = timeFor(this.all, before, callsPerMs)
    switch (callClass) {
      case 'claim':
        return pauseMs + Math.max(0, before + 1 - this.all.allowance) / (callsPerMs * this.shareOfClaims())
      case 'organiser':
        return (
          pauseMs +
          (this.queues.claim.length === 0
            ? ofAll
            : Math.max(ofAll, timeFor(this.organisers, before, callsPerMs)))
        )
      case 'paid':
        return pauseMs + Math.max(ofAll, timeFor(this.strangers, before, callsPerMs))
      case 'unproven': {
        const both = before + this.queues.paid.length
        return (
          pauseMs + Math.max(timeFor(this.all, both, callsPerMs), timeFor(this.strangers, both, callsPerMs))
        )
      }
    }
  }

  /** The share of the rate that claims have while the others wait as they do now. */
  private shareOfClaims(): number {
    const { organiser, paid, unproven } = this.queues
    const strangers = paid.length + unproven.length > 0 ? STRANGER_SHARE : 0
    return 1 - (organiser.length > 0 ? ORGANISER_SHARE : 0) - strangers
  }

  private rejectLongWaits(callClass: CallClass, nowMs: number): void {
    const queue = this.queues[callClass]
    while (queue.length > 0) {
      const waitMs = this.waitMsOf(callClass, queue.length - 1, nowMs)
      if (waitMs <= MAX_WAIT_MS[callClass]) return
      queue.pop()?.refuse(this.tooManyWaiting(callClass, waitMs, nowMs))
    }
  }

  private setTimer(nowMs: number): void {
    const waits = CLASSES.filter((callClass) => this.queues[callClass].length > 0).map((callClass) =>
      this.earliestMs(callClass, nowMs),
    )
    if (waits.length === 0) return
    const delayMs = Math.ceil(Math.min(...waits))
    if (nowMs + delayMs >= this.timerAtMs) return
    this.timerAtMs = nowMs + delayMs
    this.timing.after(delayMs, () => this.startWaiting())
  }

  /** After how long the first waiting call of a class may start, if no other class has one. */
  private earliestMs(callClass: CallClass, nowMs: number): number {
    const callsPerMs = this.callsPerMs(nowMs)
    const ofShare = isStranger(callClass) ? timeFor(this.strangers, 0, callsPerMs) : 0
    return Math.max(0, this.pausedUntilMs - nowMs) + Math.max(timeFor(this.all, 0, callsPerMs), ofShare)
  }

  private startWaiting(): void {
    this.timerAtMs = Number.POSITIVE_INFINITY
    const nowMs = this.timing.nowMs()
    this.fill(nowMs)
    for (;;) {
      const callClass = this.next(nowMs)
      if (callClass === undefined) break
      this.spend(callClass)
      this.queues[callClass].shift()?.start()
    }
    this.setTimer(nowMs)
  }
}

const CLASSES: readonly CallClass[] = ['claim', 'organiser', 'paid', 'unproven']
/** Sums of fractions are not exact: without it a timer may fire a millionth of a call too early, again and again. */
const ROUNDING = 1e-9

function hasOne({ allowance }: Bucket): boolean {
  return allowance >= 1 - ROUNDING
}

function isStranger(callClass: CallClass): boolean {
  return callClass === 'paid' || callClass === 'unproven'
}

function shareOf(share: number): Bucket {
  return {
    allowance: 0,
    rate: (callsPerMs) => share * callsPerMs,
    burst: (callsPerMs, isSlow) => (isSlow ? 1 : Math.max(MIN_SHARE_BURST, share * callsPerMs * 100)),
  }
}

/** After how long a bucket has one for a call with `before` calls before it, in milliseconds. */
function timeFor({ allowance, rate }: Bucket, before: number, callsPerMs: number): number {
  return Math.max(0, before + 1 - ROUNDING - allowance) / rate(callsPerMs)
}
