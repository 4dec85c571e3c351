import { type Clock, MINUTE_MS, SECOND_MS } from '../clock.ts'
import type { Db } from '../db/engine.ts'
import { inTransaction } from '../db/transaction.ts'
import { AppError } from '../errors.ts'
import {
  deleteGuess,
  deleteGuessesUntil,
  type Guess,
  insertGuess,
  listGuesses,
  lockGuesses,
  markJudged,
} from './edit-code-guard-queries.ts'

/** How many wrong edit codes the issuer judges for one event within {@link GUESS_WINDOW_MS}, from all clients together. */
export const MAX_GUESSES = 5
export const GUESS_WINDOW_MS = 15 * MINUTE_MS
/** A guess that is still being judged after this time counts as wrong: its process has probably died. */
const JUDGED_WITHIN_MS = MINUTE_MS
/** How long a guess waits while others are being judged. */
export const MAX_WAIT_MS = 10 * SECOND_MS
/** How often a waiting guess reads the table: nothing announces that a guess of another process has ended. */
const POLL_INTERVAL_MS = SECOND_MS / 4
/** How many events without a free place are cached, about 100 bytes each. */
const MAX_FULL_EVENTS = 10_000

/** Result of an attempt to insert a guess. */
type Entry =
  | { readonly kind: 'entered'; readonly guessId: number }
  /** The event has `MAX_GUESSES` wrong guesses until `untilMs`; `isCertain`: the issuer has judged all of them. */
  | { readonly kind: 'full'; readonly untilMs: number; readonly isCertain: boolean }
  /** The event has `MAX_GUESSES` rows, but some are still being judged and may turn out right. */
  | { readonly kind: 'busy' }

/**
 * Limits guesses of edit codes: without it a client could try all one million codes at the issuer. Each guess has a
 * row, which all processes see, before the issuer judges it:
 *
 *   (none) ──enter──▶ being judged ──wrong──▶ judged ──after 15 minutes──▶ (none)
 *                         └──right, or the issuer failed──▶ (none)
 *
 * Invariant: an event has at most MAX_GUESSES rows in the window, judged or not. So of a thousand wrong guesses in
 * parallel five are judged, and the others are refused as soon as these five are known to be wrong.
 *
 * The others wait instead of being refused at once, because the five may be right: the organiser's page can send ten
 * changes at once with the right code, and each deletes its row when it was right. A waiting guess has no row and makes
 * no call. In each process only the first waiting guess of an event polls the database. The wait ends after
 * {@link MAX_WAIT_MS}.
 *
 * @example
 * const isRight = await guard.judge(eventId, () => issuer.isEditCode(eventId, editCode))
 */
export class EditCodeGuard {
  private readonly db: Db
  private readonly clock: Clock
  /** By event: the last guess in its queue. */
  private readonly queues = new Map<number, Promise<unknown>>()
  /** By event: ends the pause of the guess that waits for a place. */
  private readonly wakeUps = new Map<number, () => void>()
  /** By event: until when no place is free. Cached because a guess that was judged wrong stays wrong. */
  private readonly fullUntilMs = new Map<number, number>()

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /**
   * Whether an edit code is right, as `judgeNow` says; it runs outside of any transaction.
   *
   * @throws {AppError} `too_many_guesses` with `retry_after_s`, without a call of `judgeNow`
   * @throws what `judgeNow` throws: then nothing was judged and nothing is counted
   */
  async judge(eventId: number, judgeNow: () => Promise<boolean>): Promise<boolean> {
    const guessId = await this.enterInTurn(eventId)
    try {
      return await this.settle(guessId, judgeNow)
    } finally {
      this.wakeUps.get(eventId)?.()
    }
  }

  /** Deletes guesses that no longer count. */
  async deleteOld(): Promise<void> {
    await deleteGuessesUntil(this.db, this.clock.nowMs() - GUESS_WINDOW_MS)
  }

  private async settle(guessId: number, judgeNow: () => Promise<boolean>): Promise<boolean> {
    let isRight: boolean
    try {
      isRight = await judgeNow()
    } catch (error) {
      await deleteGuess(this.db, guessId)
      throw error
    }
    await (isRight ? deleteGuess(this.db, guessId) : markJudged(this.db, guessId))
    return isRight
  }

  private enterInTurn(eventId: number): Promise<number> {
    const giveUpAtMs = this.clock.nowMs() + MAX_WAIT_MS
    const before = this.queues.get(eventId) ?? Promise.resolve()
    const entered = before.then(() => this.enter(eventId, giveUpAtMs))
    const done = entered.then(ignore, ignore).then(() => {
      if (this.queues.get(eventId) === done) this.queues.delete(eventId)
    })
    this.queues.set(eventId, done)
    return entered
  }

  private async enter(eventId: number, giveUpAtMs: number): Promise<number> {
    for (;;) {
      this.refuseIfFull(eventId)
      const entry = await this.tryToEnter(eventId)
      if (entry.kind === 'entered') return entry.guessId
      if (entry.kind === 'full') {
        if (entry.isCertain) this.cacheFull(eventId, entry.untilMs)
        throw tooManyGuesses(entry.untilMs - this.clock.nowMs())
      }
      if (this.clock.nowMs() >= giveUpAtMs) throw tooManyGuesses(MAX_WAIT_MS)
      await this.waitForPlace(eventId)
    }
  }

  private tryToEnter(eventId: number): Promise<Entry> {
    return inTransaction(this.db, async (tx): Promise<Entry> => {
      await lockGuesses(tx, eventId)
      const nowMs = this.clock.nowMs()
      const guesses = await listGuesses(tx, eventId, nowMs - GUESS_WINDOW_MS)
      if (guesses.length < MAX_GUESSES) {
        return { kind: 'entered', guessId: await insertGuess(tx, eventId, nowMs) }
      }
      const wrong = guesses.filter((guess) => countsAsWrong(guess, nowMs))
      if (wrong.length < MAX_GUESSES) return { kind: 'busy' }
      // The clocks of processes differ: an event is blocked for at most the length of the window
      const untilMs = Math.min(guesses[0]!.at_ms, nowMs) + GUESS_WINDOW_MS
      return { kind: 'full', untilMs, isCertain: guesses.every(({ is_judged }) => is_judged) }
    })
  }

  private refuseIfFull(eventId: number): void {
    const untilMs = this.fullUntilMs.get(eventId)
    if (untilMs === undefined) return
    const waitMs = untilMs - this.clock.nowMs()
    if (waitMs > 0) throw tooManyGuesses(waitMs)
    this.fullUntilMs.delete(eventId)
  }

  private cacheFull(eventId: number, untilMs: number): void {
    if (this.fullUntilMs.size >= MAX_FULL_EVENTS) {
      const [oldest] = this.fullUntilMs.keys()
      this.fullUntilMs.delete(oldest!)
    }
    this.fullUntilMs.set(eventId, untilMs)
  }

  /** Waits until a guess of this process has been judged, or {@link POLL_INTERVAL_MS} have passed. */
  private waitForPlace(eventId: number): Promise<void> {
    return new Promise((resolve) => {
      const wakeUp = () => {
        clearTimeout(timer)
        this.wakeUps.delete(eventId)
        resolve()
      }
      const timer = setTimeout(wakeUp, POLL_INTERVAL_MS)
      this.wakeUps.set(eventId, wakeUp)
    })
  }
}

function countsAsWrong(guess: Guess, nowMs: number): boolean {
  return guess.is_judged || guess.at_ms <= nowMs - JUDGED_WITHIN_MS
}

function tooManyGuesses(waitMs: number): AppError {
  const waitS = Math.max(Math.ceil(waitMs / SECOND_MS), 1)
  return new AppError(
    'too_many_guesses',
    `Too many wrong edit codes were sent for this event. Try again in ${waitS} seconds.`,
    { retry_after_s: waitS },
  )
}

function ignore(): void {}
