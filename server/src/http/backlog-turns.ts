import { SECOND_MS } from '../clock.ts'

/** A connection whose next request may start. */
export interface TurnTaker {
  /** Network address of the client. */
  readonly address: string
  /**
   * Starts its next request.
   *
   * @param release called when the request is answered, or its connection is closed, with the bytes of the answer
   * @returns false if there is nothing to start any more
   */
  takeTurn(release: (bytes: number) => void): boolean
}

/** The time that turns measure and wait by: a steady clock. */
export interface TurnClock {
  nowMs(): number
  /** How long the main thread has worked so far. */
  workedMs(): number
  /** Calls `work` later. @returns a function that cancels the call */
  after(ms: number, work: () => void): () => void
}

/** A shorter request is not followed by a pause. */
const PAUSE_FROM_MS = 1
/** A request that took 3 ms is followed by a pause of 600 ms, so the backlog gets 0.5 % of the main thread. */
const PAUSE_FACTOR = 200
/**
 * Garbage collection that an answer causes later: measured 50 ms for 15 MB of answers, while a thousand connections with
 * waiting requests are open.
 */
const COLLECTION_MS_PER_BYTE = 50 / 15e6
const PAUSE_AT_MOST_MS = 5 * SECOND_MS
/** There are pauses only if another request came within this time. */
const OTHERS_WITHIN_MS = SECOND_MS
/** An answer that takes longer, a stream for example, does not delay the other connections of its address. */
const TURN_AT_MOST_MS = SECOND_MS

const STEADY_CLOCK: TurnClock = {
  nowMs: () => performance.now(),
  workedMs: () => performance.eventLoopUtilization().active,
  after: (ms, work) => {
    const timeout = setTimeout(work, ms).unref()
    return () => clearTimeout(timeout)
  },
}

/** One request of a backlog that is under way. */
interface Turn {
  /** How long the main thread had worked when it started. */
  readonly startedAtWorkedMs: number
  /** When it is answered: how long the main thread has worked since its start, for others too, and will for garbage. */
  tookMs: number | undefined
  /** Called when it is answered, or has been under way for so long that the next one starts. */
  onEnd: (() => void) | undefined
  isOver: boolean
}

/**
 * Starts the backlog of all connections one request at a time: the network addresses in turn, and the connections of an
 * address in turn. An address gets its next turn when its request is answered, or after a second.
 *
 * The server yields to the event loop between two turns. While requests without backlog arrive, the next turn begins
 * when the request before is answered, and after an expensive one there is a pause: then they wait for the backlog in
 * less than one of a hundred cases.
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
    let turn: Turn | undefined
    setImmediate(() => {
      turn = this.startNext()
    })
    // Between two immediates of one phase run only the promises of the first: here a short answer has been made.
    setImmediate(() => this.proceedAfter(turn))
  }

  /** @returns undefined if no request may start now */
  private startNext(): Turn | undefined {
    for (let taker = this.takeNext(); taker; taker = this.takeNext()) {
      const turn: Turn = {
        startedAtWorkedMs: this.clock.workedMs(),
        tookMs: undefined,
        onEnd: undefined,
        isOver: false,
      }
      if (taker.takeTurn(this.occupy(taker.address, turn))) return turn
      this.busyAddresses.delete(taker.address)
    }
    return undefined
  }

  private proceedAfter(turn: Turn | undefined): void {
    const proceed = () => {
      this.isScheduled = false
      this.schedule()
    }
    if (turn === undefined) {
      this.isScheduled = false // a released address schedules the next turn
      return
    }
    if (!this.areOthersServed(this.clock.nowMs())) {
      proceed()
      return
    }
    // How long a request takes that is not answered in a second cannot be separated from the work of others.
    const beginMs = this.clock.workedMs() - turn.startedAtWorkedMs
    const pause = () => {
      const tookMs = turn.tookMs ?? beginMs
      if (tookMs < PAUSE_FROM_MS) proceed()
      else this.clock.after(Math.min(tookMs * PAUSE_FACTOR, PAUSE_AT_MOST_MS), proceed)
    }
    if (turn.isOver) pause()
    else turn.onEnd = pause
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

  private occupy(address: string, turn: Turn): (bytes: number) => void {
    this.busyAddresses.add(address)
    const end = () => {
      if (turn.isOver) return
      turn.isOver = true
      cancel()
      this.busyAddresses.delete(address)
      turn.onEnd?.()
      this.schedule()
    }
    const cancel = this.clock.after(TURN_AT_MOST_MS, end)
    return (bytes) => {
      const workedMs = this.clock.workedMs() - turn.startedAtWorkedMs
      if (!turn.isOver) turn.tookMs = workedMs + bytes * COLLECTION_MS_PER_BYTE
      end()
    }
  }
}
