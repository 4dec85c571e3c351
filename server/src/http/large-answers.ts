import { setImmediate } from 'node:timers/promises'
import { SECOND_MS } from '../clock.ts'
import { AppError } from '../errors.ts'
import type { Progress } from './slow-readers.ts'

/** How many large answers may be open at a time. */
export interface LargeAnswerLimits {
  readonly max: number
  readonly perClient: number
}

/** Each takes up to 1 MB: the encoder, and the pieces that its client has not read. */
export const LARGE_ANSWER_LIMITS: LargeAnswerLimits = { max: 64, perClient: 16 }

const BUSY_FOR_S = 5
/** For this time an answer keeps its place, however slowly it is read. */
const GRACE_MS = 30 * SECOND_MS
/** Afterwards it keeps its place only if its client reads faster than this on average, or no other client needs it. */
const KEPT_FROM_BYTES_PER_SECOND = 50_000

/** The client that reads a large answer. */
export interface LargeAnswerReader {
  /** What its connection has taken, and what waits for it. */
  progress(): Progress
  /** Ends the connection. */
  cut(): void
}

interface OpenAnswer {
  readonly client: string
  readonly reader: LargeAnswerReader
  readonly openedAtMs: number
  readonly takenBefore: number
}

/**
 * The large answers that are written piece by piece, each for one client: exports, and whole worlds for clients that accept no
 * compression. Without these bounds, a few hundred clients that read slowly would fill the memory, and one that reads fast would
 * keep the process busy. A bounded number is open at a time, and one
 * piece of all of them is made in each turn of the event loop. So other requests wait for one piece, about a
 * millisecond, however many large answers are open.
 *
 * Clients that read slowly cannot hold all places: where no place is free, the answer is cut that has been open longest,
 * of those that are open for 30 seconds or more, have bytes waiting, and were read at less than 50 kB a second on average.
 *
 * @example
 * const leave = largeAnswers.enter('192.0.2.7', { progress: () => progressOf(socket), cut: () => socket.destroy() })
 * for (const piece of pieces) {
 *   await largeAnswers.turn()
 *   await write(piece)
 * }
 * leave()
 */
export class LargeAnswers {
  private readonly limits: LargeAnswerLimits
  private readonly nowMs: () => number
  /** In the order in which they were opened. */
  private readonly open = new Set<OpenAnswer>()
  private refusals = 0
  private lastTurn: Promise<unknown> = Promise.resolve()

  /** @param nowMs a steady clock */
  constructor(limits: LargeAnswerLimits = LARGE_ANSWER_LIMITS, nowMs = () => performance.now()) {
    this.limits = limits
    this.nowMs = nowMs
  }

  /** Number of open large answers. */
  get size(): number {
    return this.open.size
  }

  /** Number of refused ones since the start. */
  get refused(): number {
    return this.refusals
  }

  /**
   * Counts one more large answer, and cuts a slow one if there is no place for it.
   *
   * @returns a function to call when the answer is sent or its client has left
   * @throws {AppError} `too_many_large_answers`, or `too_many_requests` if the client has too many itself
   */
  enter(client: string, reader: LargeAnswerReader): () => void {
    const { max, perClient } = this.limits
    const ofClient = [...this.open].filter((answer) => answer.client === client)
    if (ofClient.length >= perClient && !this.cutSlow(ofClient)) {
      this.refusals++
      throw new AppError(
        'too_many_requests',
        `This network address reads ${perClient} large answers already. Wait until one of them has ended.`,
        { retry_after_s: BUSY_FOR_S },
      )
    }
    if (this.open.size >= max && !this.cutSlow(this.open)) {
      this.refusals++
      throw new AppError(
        'too_many_large_answers',
        'The server sends many large answers at present. Try again in a few seconds, or request less at a time.',
        { retry_after_s: BUSY_FOR_S },
      )
    }
    const takenBefore = reader.progress().taken
    const answer = { client, reader, openedAtMs: this.nowMs(), takenBefore }
    this.open.add(answer)
    return () => this.open.delete(answer)
  }

  /** Resolves in a later turn of the event loop, one caller for each turn, in the order of the calls. */
  turn(): Promise<unknown> {
    this.lastTurn = this.lastTurn.then(() => setImmediate())
    return this.lastTurn
  }

  /** Cuts the first slow one of these. @returns false if none is slow */
  private cutSlow(answers: Iterable<OpenAnswer>): boolean {
    for (const answer of answers) {
      if (!this.isSlow(answer)) continue
      this.open.delete(answer)
      answer.reader.cut()
      return true
    }
    return false
  }

  private isSlow({ reader, openedAtMs, takenBefore }: OpenAnswer): boolean {
    const openMs = this.nowMs() - openedAtMs
    if (openMs < GRACE_MS) return false
    const { waiting, taken } = reader.progress()
    // Where no bytes wait, the client waits for this server.
    return waiting > 0 && taken - takenBefore < (KEPT_FROM_BYTES_PER_SECOND * openMs) / SECOND_MS
  }
}
