import { SECOND_MS } from '../clock.ts'

/** A connection whose next request may start. */
export interface TurnTaker {
  /** Network address of the client. */
  readonly address: string
  /**
   * Starts its next request.
   *
   * @param release called when the request is answered, or its connection is closed
   * @returns false if there is nothing to start any more
   */
  takeTurn(release: () => void): boolean
}

/** The time that turns measure and wait by: a steady clock. */
export interface TurnClock {
  nowMs(): number
  /** Calls `work` later. @returns a function that cancels the call */
  after(ms: number, work: () => void): () => void
}

/** A shorter request is not followed by a pause. */
const PAUSE_FROM_MS = 1
/** A request that took 3 ms is followed by a pause of 300 ms, so the backlog gets a hundredth of the main thread. */
const PAUSE_FACTOR = 100
const PAUSE_AT_MOST_MS = SECOND_MS
/** There are pauses only if another request came within this time. */
const OTHERS_WITHIN_MS = SECOND_MS
/** An answer that takes longer, a stream for example, does not delay the other connections of its address. */
const TURN_AT_MOST_MS = SECOND_MS

const STEADY_CLOCK: TurnClock = {
  nowMs: () => performance.now(),
  after: (ms, work) => {
    const timeout = setTimeout(work, ms).unref()
    return () => clearTimeout(timeout)
  },
}

/**
 * Starts the backlog of all connections one request at a time: the network addresses in turn, and the connections of an
 * address in turn. An address gets its next turn when its request is answered, or after a second.
 *
 * The server yields to the event loop between two turns. While requests without backlog arrive, an expensive request
 * is followed by a pause: then they wait for the backlog in at most one of a hundred cases.
 */
export class BacklogTurns {
  private readonly clock: TurnClock
  private readonly othersStarted: () => number
  /** By address; the one whose turn is next comes first. */
  private readonly takers = new Map<string, TurnTaker[]>()
  private readonly busyAddresses = new Set<string>()
  private isScheduled = false
  private seenOthers = 0
  private othersSeenAtMs = Number.NEGATIVE_INFINITY

  /** @param othersStarted how many requests without backlog were started so far */
  constructor(othersStarted: () => number, clock: TurnClock = STEADY_CLOCK) {
    this.othersStarted = othersStarted
    this.clock = clock
  }

  /** Gives a connection one turn, after those that were added before. */
  add(taker: TurnTaker): void {
    const sameAddress = this.takers.get(taker.address)
    if (sameAddress) sameAddress.push(taker)
    else this.takers.set(taker.address, [taker])
    this.schedule()
  }

  private schedule(): void {
    if (this.isScheduled || this.takers.size === 0) return
    this.isScheduled = true
    // Between two immediates of one phase run only the promises of the first: so the second one measures its request.
    let startedAtMs: number | undefined
    setImmediate(() => {
      startedAtMs = this.startNext()
    })
    setImmediate(() => this.pauseAfter(startedAtMs))
  }

  /** @returns when it was started; undefined if no request may start now */
  private startNext(): number | undefined {
    for (let taker = this.takeNext(); taker; taker = this.takeNext()) {
      const startedAtMs = this.clock.nowMs()
      if (taker.takeTurn(this.occupy(taker.address))) return startedAtMs
      this.busyAddresses.delete(taker.address)
    }
    return undefined
  }

  private pauseAfter(startedAtMs: number | undefined): void {
    const proceed = () => {
      this.isScheduled = false
      this.schedule()
    }
    if (startedAtMs === undefined) {
      this.isScheduled = false // a released address schedules the next turn
      return
    }
    const nowMs = this.clock.nowMs()
    const tookMs = nowMs - startedAtMs
    if (tookMs < PAUSE_FROM_MS || !this.areOthersServed(nowMs)) proceed()
    else this.clock.after(Math.min(tookMs * PAUSE_FACTOR, PAUSE_AT_MOST_MS), proceed)
  }

  private areOthersServed(nowMs: number): boolean {
    const others = this.othersStarted()
    if (others !== this.seenOthers) {
      this.seenOthers = others
      this.othersSeenAtMs = nowMs
    }
    return nowMs - this.othersSeenAtMs < OTHERS_WITHIN_MS
  }

  /** The first connection of the first address that has no request under way; the address goes to the end. */
  private takeNext(): TurnTaker | undefined {
    for (const [address, takers] of this.takers) {
      if (this.busyAddresses.has(address)) continue
      const taker = takers.shift()
      this.takers.delete(address)
      if (takers.length > 0) this.takers.set(address, takers)
      return taker
    }
    return undefined
  }

  private occupy(address: string): () => void {
    this.busyAddresses.add(address)
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      cancel()
      this.busyAddresses.delete(address)
      this.schedule()
    }
    const cancel = this.clock.after(TURN_AT_MOST_MS, release)
    return release
  }
}
