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

/** Wrong edit codes that are judged for one event within {@link GUESS_WINDOW_MS}, whoever sends them. */
export const MAX_GUESSES = 5
export const GUESS_WINDOW_MS = 15 * MINUTE_MS
/** A guess that is being judged for longer belongs, most likely, to a process that died: it counts as wrong. */
const JUDGED_WITHIN_MS = MINUTE_MS
/** How long a guess waits for others that are being judged. */
export const MAX_WAIT_MS = 10 * SECOND_MS
/** Guesses of other processes end without our being told. */
const POLL_INTERVAL_MS = SECOND_MS / 4
/** Events that are known to be full, about 100 bytes each. */
const MAX_REMEMBERED = 10_000

/** What became of the wish to have a guess judged. */
type Entry =
  | { readonly kind: 'entered'; readonly guessId: number }
  /** Enough wrong ones: there is no place before this time, if they are all known to be wrong. */
  | { readonly kind: 'full'; readonly untilMs: number; readonly isCertain: boolean }
  /** All places are taken, some of them by guesses that are being judged and may turn out right. */
  | { readonly kind: 'busy' }

/**
 * Stands before the issuer, which would tell anybody who asks often enough which of a million edit codes is right.
 * A guess has a row, shared by all processes, from before it is judged:
 *
 *   (none) ──enter──▶ being judged ──wrong──▶ judged ──after 15 minutes──▶ (none)
 *                         └──right, or nobody judged it──▶ (none)
 *
 * Invariant: an event has at most MAX_GUESSES rows in the window, of both kinds together. So a thousand parallel
 * wrong guesses have five judged, and the others are refused as soon as these are known to be wrong.
 *
 * Why the others wait for that rather than being refused at once: while five are being judged nobody knows that they
 * are wrong. The organiser's page or script may send ten changes in a row, all with the right code: each takes its
 * turn, and gives its place back. Only five *wrong* guesses close the door. Who waits has no place and causes no call;
 * in one process only the first of those who wait for an event looks into the database, and the wait ends after
 * {@link MAX_WAIT_MS}.
 *
 * @example
 * const isRight = await guard.judge(eventId, () => issuer.isEditCode(eventId, editCode))
 */
export class EditCodeGuard {
  private readonly db: Db
  private readonly clock: Clock
  /** By event: the end of the queue of those who want to enter. */
  private readonly queues = new Map<number, Promise<unknown>>()
  /** By event: wakes the one who waits for a place. */
  private readonly wakeUps = new Map<number, () => void>()
  /** By event: until when the table is known to be full. What was judged wrong stays so, so nobody needs to look. */
  private readonly fullUntilMs = new Map<number, number>()

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /**
   * Whether an edit code is right, as `judgeNow` says; it runs outside of any transaction.
   *
   * @throws {AppError} `too_many_guesses` with `retry_after_s`, without a call of `judgeNow`
   * @throws whatever `judgeNow` throws: then nothing was judged and nothing is counted
   */
  async judge(eventId: number, judgeNow: () => Promise<boolean>): Promise<boolean> {
    const guessId = await this.enterInTurn(eventId)
    try {
      return await this.settle(guessId, judgeNow)
    } finally {
      this.wakeUps.get(eventId)?.()
    }
  }

  /** Deletes guesses that no longer count; to be called now and then. */
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
      this.refuseWhileFull(eventId)
      const entry = await this.tryToEnter(eventId)
      if (entry.kind === 'entered') return entry.guessId
      if (entry.kind === 'full') {
        if (entry.isCertain) this.rememberFull(eventId, entry.untilMs)
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
      // The clocks of two processes differ: nobody is shut out for longer than the window
      const untilMs = Math.min(guesses[0]!.at_ms, nowMs) + GUESS_WINDOW_MS
      return { kind: 'full', untilMs, isCertain: guesses.every(({ is_judged }) => is_judged) }
    })
  }

  private refuseWhileFull(eventId: number): void {
    const untilMs = this.fullUntilMs.get(eventId)
    if (untilMs === undefined) return
    const waitMs = untilMs - this.clock.nowMs()
    if (waitMs > 0) throw tooManyGuesses(waitMs)
    this.fullUntilMs.delete(eventId)
  }

  private rememberFull(eventId: number, untilMs: number): void {
    if (this.fullUntilMs.size >= MAX_REMEMBERED) {
      const [oldest] = this.fullUntilMs.keys()
      this.fullUntilMs.delete(oldest!)
    }
    this.fullUntilMs.set(eventId, untilMs)
  }

  /** Until a guess of this process has been judged, or a moment has passed. */
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
