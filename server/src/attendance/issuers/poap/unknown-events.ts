import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../../clock.ts'

/** An event may be asked for before the issuer knows it: after this time it is asked for again. */
export const UNKNOWN_FOR_MS = MINUTE_MS
/** About 100 bytes each. */
const MAX_EVENTS = 10_000
/** How many wrong codes' times are kept, to answer after the time of one of them. */
const MAX_TIMES = 64

/**
 * Events that the issuer does not know: each invented event id costs one call to the issuer in a minute, however often
 * it is sent. Cached in the process, by its monotonic clock.
 *
 * A wrong code for a cached event is answered after the time that one of the last wrong codes took. Otherwise a fast
 * answer would show that the issuer has no such event.
 */
export class UnknownEvents {
  private readonly untilMs = new Map<number, number>()
  private readonly timesMs: number[] = []
  private readonly nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs
  }

  has(eventId: number): boolean {
    const untilMs = this.untilMs.get(eventId)
    if (untilMs === undefined) return false
    if (this.nowMs() < untilMs) return true
    this.untilMs.delete(eventId)
    return false
  }

  /** @param tookMs from the request until the answer of the issuer, with the wait for the turn */
  noteWrong(eventId: number, isUnknown: boolean, tookMs: number): void {
    if (this.timesMs.push(tookMs) > MAX_TIMES) this.timesMs.shift()
    if (!isUnknown) return
    if (this.untilMs.size >= MAX_EVENTS) this.untilMs.delete(this.untilMs.keys().next().value!)
    this.untilMs.set(eventId, this.nowMs() + UNKNOWN_FOR_MS)
  }

  /** The issuer knows the event, as it has said since. */
  forget(eventId: number): void {
    this.untilMs.delete(eventId)
  }

  /** @param turnMs how long a call would wait for its turn now */
  async waitAsIfJudged(turnMs: number): Promise<void> {
    const oneOfTheLast = this.timesMs[Math.floor(Math.random() * this.timesMs.length)] ?? 0
    await sleep(Math.max(turnMs, oneOfTheLast))
  }
}

/** Runs works about the same event one after the other. */
export class OneByOne {
  private readonly last = new Map<number, Promise<unknown>>()

  run<Result>(eventId: number, work: () => Promise<Result>): Promise<Result> {
    const result = (this.last.get(eventId) ?? Promise.resolve()).then(work)
    const done = result
      .catch(() => undefined)
      .then(() => {
        if (this.last.get(eventId) === done) this.last.delete(eventId)
      })
    this.last.set(eventId, done)
    return result
  }
}
