import { setImmediate } from 'node:timers/promises'
import { AppError } from '../errors.ts'

/** How many large answers may be open at a time. */
export interface LargeAnswerLimits {
  readonly max: number
  readonly perClient: number
}

/** Each takes up to 1 MB: the encoder, and the pieces that its client has not read. */
export const LARGE_ANSWER_LIMITS: LargeAnswerLimits = { max: 64, perClient: 16 }

const BUSY_FOR_S = 5

/**
 * The large answers that are written piece by piece, each for one client. A bounded number is open at a time, and one
 * piece of all of them is made in each turn of the event loop. So other requests wait for one piece, about a
 * millisecond, however many large answers are open.
 *
 * @example
 * const leave = largeAnswers.enter('192.0.2.7')
 * for (const piece of pieces) {
 *   await largeAnswers.turn()
 *   await write(piece)
 * }
 * leave()
 */
export class LargeAnswers {
  private readonly limits: LargeAnswerLimits
  private readonly openByClient = new Map<string, number>()
  private open = 0
  private refusals = 0
  private lastTurn: Promise<unknown> = Promise.resolve()

  constructor(limits: LargeAnswerLimits = LARGE_ANSWER_LIMITS) {
    this.limits = limits
  }

  /** Number of open large answers. */
  get size(): number {
    return this.open
  }

  /** Number of refused ones since the start. */
  get refused(): number {
    return this.refusals
  }

  /**
   * Counts one more large answer.
   *
   * @returns a function to call when the answer is sent or its client has left
   * @throws {AppError} `too_many_large_answers`, or `too_many_requests` if the client has too many itself
   */
  enter(client: string): () => void {
    const ofClient = this.openByClient.get(client) ?? 0
    const { max, perClient } = this.limits
    if (ofClient >= perClient) {
      this.refusals++
      throw new AppError(
        'too_many_requests',
        `This network address reads ${perClient} large answers already. Wait until one of them has ended.`,
        { retry_after_s: BUSY_FOR_S },
      )
    }
    if (this.open >= max) {
      this.refusals++
      throw new AppError(
        'too_many_large_answers',
        'The server sends many large answers at present. Try again in a few seconds, or request less at a time.',
        { retry_after_s: BUSY_FOR_S },
      )
    }
    this.open++
    this.openByClient.set(client, ofClient + 1)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.leave(client)
    }
  }

  /** Resolves in a later turn of the event loop, one caller for each turn, in the order of the calls. */
  turn(): Promise<unknown> {
    this.lastTurn = this.lastTurn.then(() => setImmediate())
    return this.lastTurn
  }

  private leave(client: string): void {
    this.open--
    const ofClient = this.openByClient.get(client)! - 1
    if (ofClient > 0) this.openByClient.set(client, ofClient)
    else this.openByClient.delete(client)
  }
}
