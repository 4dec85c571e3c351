import { type Clock, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../errors.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import { RandomQueue } from '../../work/random-queue.ts'
import { IssuerError, type Sender } from '../issuers/issuer.ts'
import { waitText } from '../wait-text.ts'
import {
  countWrong,
  deleteGuess,
  deleteGuessesUntil,
  type Guess,
  type GuessKey,
  insertGuess,
  listGuesses,
  lockGuesses,
  markJudged,
  markSpent,
} from './edit-code-guard-queries.ts'
import type { GuessChallenges, ProofOfWork, SolvedChallenge } from './guess-challenge.ts'

/** How many wrong edit codes without a proof the issuer judges for one event within {@link GUESS_WINDOW_MS}. */
export const MAX_GUESSES = 5
export const GUESS_WINDOW_MS = 15 * MINUTE_MS
/** How many wrong edit codes with a proof of work the issuer judges for one event within {@link PAID_WINDOW_MS}. */
export const MAX_PAID_GUESSES = 6
const PAID_WINDOW_MS = MINUTE_MS
/** The most that the proof of work grows: by default from 2^22 hashes on average to 2^26, half a minute on a phone. */
export const MAX_EXTRA_BITS = 4
/** After so many wrong paid guesses within {@link GUESS_WINDOW_MS} the work doubles. */
const PAID_GUESSES_PER_BIT = 4
/** A challenge is accepted although the work has doubled so often since it was made: an honest client was solving it. */
const GROWTH_WHILE_SOLVING = 2
/** A guess that is still being judged after this time counts as wrong: its process has probably died. */
const JUDGED_WITHIN_MS = MINUTE_MS
/** How long a guess waits while others are being judged, and a paid guess for the next place of its minute. */
export const MAX_WAIT_MS = 10 * SECOND_MS
/** How often a waiting guess reads the table: nothing announces that a guess of another process has ended. */
const POLL_INTERVAL_MS = SECOND_MS / 4
/** How many budgets without a free place are cached, about 100 bytes each. */
const MAX_FULL_BUDGETS = 10_000

/** A limit of wrong guesses for one event. */
interface Budget {
  /** In the database. */
  readonly name: string
  readonly most: number
  readonly windowMs: number
}

const OPEN: Budget = { name: 'open', most: MAX_GUESSES, windowMs: GUESS_WINDOW_MS }
const PAID: Budget = { name: 'paid', most: MAX_PAID_GUESSES, windowMs: PAID_WINDOW_MS }

function budgetOfPass(id: string): Budget {
  return { name: `pass ${id}`, most: MAX_GUESSES, windowMs: GUESS_WINDOW_MS }
}

/** What is known of the sender of a guess besides the edit code; pass and proof were checked. */
export interface GuessProof {
  /** The id of a pass of the event. */
  readonly passId?: string | undefined
  readonly solved?: SolvedChallenge | undefined
  /** The network address. */
  readonly from?: string | undefined
}

/** A guess that counts in a budget. */
interface Entering {
  readonly eventId: number
  readonly budget: Budget
  readonly challenge?: string | undefined
  readonly from?: string | undefined
}

/** Result of an attempt to insert a guess. */
type Entry =
  | { readonly kind: 'entered'; readonly guess: GuessKey }
  /** The budget is used up by wrong guesses until `untilMs`; `isCertain`: the issuer has judged all of them. */
  | { readonly kind: 'full'; readonly untilMs: number; readonly isCertain: boolean }
  /** The budget has no place, but some guesses are still being judged and may turn out right. */
  | { readonly kind: 'busy' }
  /** The challenge was used before. */
  | { readonly kind: 'used' }

/**
 * Limits guesses of edit codes: without it a client could try all one million codes at the issuer. Each guess counts in
 * one budget of its event:
 *
 * - `pass`: the sender holds a pass of the event; five wrong guesses of this pass in 15 minutes.
 * - `paid`: the sender has solved a challenge; six wrong guesses a minute for all senders together. The work doubles
 *   with every four of them in the last 15 minutes, four times at most.
 * - `open`: all others together; five wrong guesses in 15 minutes.
 *
 * So strangers who use up `open` lock no organiser out: an organiser with a pass does not notice them, and one without a pass
 * gets a challenge with the refusal. docs/decisions/0016-organisers-under-attack.md has the arithmetic.
 *
 * Each guess has a row, which all processes see, before the issuer judges it:
 *
 *   (none) ──enter──▶ being judged ──wrong──▶ judged ──after 15 minutes──▶ (none)
 *                         └──right, or the issuer failed──▶ (none)
 *
 * A right guess with a challenge keeps its row, which no longer counts: each challenge is used once.
 *
 * Invariant: a budget has at most its number of rows in its window, judged or not. So of a thousand wrong guesses in
 * parallel five are judged, and the others are refused as soon as these five are known to be wrong.
 *
 * The others wait instead of being refused at once, because the five may be right: the organiser's page can send ten
 * changes at once with the right code, and each deletes its row when it was right. A waiting guess has no row and makes
 * no call. In each process only the first waiting guess of a budget polls the database. The wait ends after
 * {@link MAX_WAIT_MS}.
 *
 * A paid guess also waits, for as long, when all places of its minute are used: then those that wait are drawn by lot.
 * Otherwise everybody would be pointed at the same second, and the fastest would get all places.
 *
 * @example
 * const isRight = await guard.judge(eventId, {}, (by) => issuer.isEditCode(eventId, editCode, by))
 */
export class EditCodeGuard {
  private readonly db: Db
  private readonly clock: Clock
  private readonly challenges: Pick<GuessChallenges, 'make'>
  private readonly proofBits: number
  /** By budget: the last guess in its queue. */
  private readonly queues = new Map<string, Promise<unknown>>()
  /** By budget: ends the pause of the guess that waits for a place. */
  private readonly wakeUps = new Map<string, () => void>()
  /** By budget: until when no place is free. Cached because a guess that was judged wrong stays wrong. */
  private readonly fullUntilMs = new Map<string, number>()
  /** By budget: paid guesses that wait for the next place. */
  private readonly draws = new RandomQueue()
  /** By event: for a thousand refusals a second, the database is asked once. */
  private readonly bits = new OneSecondCache<number>()

  constructor({ db, clock, challenges, proofBits }: EditCodeGuardOptions) {
    this.db = db
    this.clock = clock
    this.challenges = challenges
    this.proofBits = proofBits
  }

  /**
   * Whether an edit code is right, as `judgeNow` says; it runs outside of any transaction.
   *
   * @throws {AppError} `too_many_guesses` with `retry_after_s`, without a call of `judgeNow`, or where it throws because
   * the queue of strangers at the issuer is full; mostly with `proof_of_work`, the challenge for one more guess. Without
   * it a paid guess was refused: its proof stays valid.
   * @throws what else `judgeNow` throws: then nothing was judged and nothing is counted
   */
  async judge(
    eventId: number,
    { passId, solved, from }: GuessProof,
    judgeNow: (by: Sender) => Promise<boolean>,
  ): Promise<boolean> {
    if (passId !== undefined) {
      const budget = budgetOfPass(passId)
      const judged = await this.judgeIn({ eventId, budget }, () => judgeNow('organiser'))
      if (typeof judged === 'boolean') return judged
      if (!solved) throw await this.refusal(eventId, judged)
    }
    if (solved && (await this.isEnough(eventId, solved))) {
      const entering = { eventId, budget: PAID, challenge: solved.id, from }
      const judged = await this.judgeIn(entering, () => judgeNow('paid')).catch(noTurn)
      if (typeof judged === 'boolean') return judged
      throw judged.isUsed ? await this.refusal(eventId, judged) : tooManyGuesses(judged)
    }
    const judged = await this.judgeIn({ eventId, budget: OPEN }, () => judgeNow('unproven')).catch(noTurn)
    if (typeof judged === 'boolean') return judged
    throw await this.refusal(eventId, judged)
  }

  /** Deletes guesses that no longer count. */
  async deleteOld(): Promise<void> {
    await deleteGuessesUntil(this.db, this.clock.nowMs() - GUESS_WINDOW_MS)
  }

  /** The proof of work that the next paid guess needs, in bits. */
  private bitsFor(eventId: number): Promise<number> {
    return this.bits.get(String(eventId), async () => {
      const afterMs = this.clock.nowMs() - GUESS_WINDOW_MS
      const wrong = await countWrong(this.db, { eventId, budget: PAID.name, afterMs })
      return this.proofBits + Math.min(Math.floor(wrong / PAID_GUESSES_PER_BIT), MAX_EXTRA_BITS)
    })
  }

  /** False for a challenge from before an attack: otherwise cheap challenges could be collected for later. */
  private async isEnough(eventId: number, { bits }: SolvedChallenge): Promise<boolean> {
    return bits >= (await this.bitsFor(eventId)) - GROWTH_WHILE_SOLVING
  }

  private async refusal(eventId: number, noPlace: NoPlace): Promise<AppError> {
    return tooManyGuesses(noPlace, {
      proof_of_work: this.challenges.make(eventId, await this.bitsFor(eventId)),
    })
  }

  private async judgeIn(entering: Entering, judgeNow: () => Promise<boolean>): Promise<boolean | NoPlace> {
    const guess = await (entering.budget === PAID ? this.enterByLot(entering) : this.enterInTurn(entering))
    if (!('id' in guess)) return guess
    try {
      return await this.settle(guess, entering, judgeNow)
    } finally {
      this.wakeUps.get(keyOf(entering))?.()
    }
  }

  private async settle(
    guess: GuessKey,
    { eventId, challenge }: Entering,
    judgeNow: () => Promise<boolean>,
  ): Promise<boolean> {
    let isRight: boolean
    try {
      isRight = await judgeNow()
    } catch (error) {
      await deleteGuess(this.db, guess)
      throw error
    }
    if (!isRight) {
      await markJudged(this.db, guess)
      if (challenge !== undefined) this.bits.forget(String(eventId))
    } else await (challenge === undefined ? deleteGuess : markSpent)(this.db, guess)
    return isRight
  }

  /** Enters a paid guess. While the budget is full the guess waits some seconds, and goes on in a random order. */
  private async enterByLot(entering: Entering): Promise<GuessKey | NoPlace> {
    const key = keyOf(entering)
    const giveUpAtMs = performance.now() + MAX_WAIT_MS
    for (let waitMs = this.fullForMs(key); ; ) {
      if (waitMs > 0 || this.draws.isWaiting(key)) {
        const isInTime = performance.now() + waitMs <= giveUpAtMs
        const pauseMs = Math.min(waitMs, POLL_INTERVAL_MS)
        if (!isInTime || !(await this.draws.wait(key, entering.from, pauseMs))) {
          // So that the next try comes before the draw
          return { waitMs: waitMs - MAX_WAIT_MS / 2 }
        }
      }
      const entered = await this.enterInTurn(entering)
      if ('id' in entered || entered.isUsed) return entered
      waitMs = entered.waitMs
    }
  }

  private enterInTurn(entering: Entering): Promise<GuessKey | NoPlace> {
    const key = keyOf(entering)
    const giveUpAtMs = this.clock.nowMs() + MAX_WAIT_MS
    const before = this.queues.get(key) ?? Promise.resolve()
    const entered = before.then(() => this.enter(entering, giveUpAtMs))
    const done = entered.then(ignore, ignore).then(() => {
      if (this.queues.get(key) === done) this.queues.delete(key)
    })
    this.queues.set(key, done)
    return entered
  }

  private async enter(entering: Entering, giveUpAtMs: number): Promise<GuessKey | NoPlace> {
    const key = keyOf(entering)
    for (;;) {
      const fullMs = this.fullForMs(key)
      if (fullMs > 0) return { waitMs: fullMs }
      const entry = await this.tryToEnter(entering)
      switch (entry.kind) {
        case 'entered':
          return entry.guess
        case 'used':
          return { waitMs: SECOND_MS, isUsed: true }
        case 'full':
          if (entry.isCertain) this.cacheFull(key, entry.untilMs)
          return { waitMs: entry.untilMs - this.clock.nowMs() }
        case 'busy':
          if (this.clock.nowMs() >= giveUpAtMs) return { waitMs: MAX_WAIT_MS }
          await this.waitForPlace(key)
      }
    }
  }

  private tryToEnter({ eventId, budget, challenge }: Entering): Promise<Entry> {
    return inTransaction(this.db, async (tx): Promise<Entry> => {
      await lockGuesses(tx, eventId)
      const nowMs = this.clock.nowMs()
      const window = { eventId, budget: budget.name, afterMs: nowMs - budget.windowMs }
      const guesses = await listGuesses(tx, window)
      if (guesses.length < budget.most) {
        const guess = await insertGuess(tx, { eventId, budget: budget.name, atMs: nowMs, challenge })
        return guess === undefined ? { kind: 'used' } : { kind: 'entered', guess }
      }
      const wrong = guesses.filter((guess) => countsAsWrong(guess, nowMs))
      if (wrong.length < budget.most) return { kind: 'busy' }
      // The clocks of processes differ: a budget is blocked for at most the length of its window
      const untilMs = Math.min(guesses[0]!.at_ms, nowMs) + budget.windowMs
      return { kind: 'full', untilMs, isCertain: guesses.every(({ is_judged }) => is_judged) }
    })
  }

  /** For how long the cache knows that a budget has no place. */
  private fullForMs(key: string): number {
    const untilMs = this.fullUntilMs.get(key)
    if (untilMs === undefined) return 0
    const waitMs = untilMs - this.clock.nowMs()
    if (waitMs <= 0) this.fullUntilMs.delete(key)
    return waitMs
  }

  private cacheFull(key: string, untilMs: number): void {
    if (this.fullUntilMs.size >= MAX_FULL_BUDGETS) {
      const [oldest] = this.fullUntilMs.keys()
      this.fullUntilMs.delete(oldest!)
    }
    this.fullUntilMs.set(key, untilMs)
  }

  /** Waits until a guess of this process has been judged, or {@link POLL_INTERVAL_MS} have passed. */
  private waitForPlace(key: string): Promise<void> {
    return new Promise((resolve) => {
      const wakeUp = () => {
        clearTimeout(timer)
        this.wakeUps.delete(key)
        resolve()
      }
      const timer = setTimeout(wakeUp, POLL_INTERVAL_MS)
      this.wakeUps.set(key, wakeUp)
    })
  }
}

export interface EditCodeGuardOptions {
  readonly db: Db
  readonly clock: Clock
  readonly challenges: Pick<GuessChallenges, 'make'>
  /** How many zero bits the first proof of work needs. */
  readonly proofBits: number
}

/** A guess is not judged now. */
interface NoPlace {
  readonly waitMs: number
  /** The challenge was used before. */
  readonly isUsed?: boolean
  /** The budget has a place, but the queue of strangers at the issuer has none. */
  readonly isQueueFull?: boolean
}

/** @throws the error, where it says something else than that the queue of strangers is full */
function noTurn(error: unknown): NoPlace {
  if (!(error instanceof IssuerError && error.isQueueFull)) throw error
  return { waitMs: error.retryAfterMs ?? SECOND_MS, isQueueFull: true }
}

function keyOf({ eventId, budget }: Entering): string {
  return `${eventId} ${budget.name}`
}

function countsAsWrong(guess: Guess, nowMs: number): boolean {
  return guess.is_judged || guess.at_ms <= nowMs - JUDGED_WITHIN_MS
}

function tooManyGuesses(
  { waitMs, isQueueFull = false }: NoPlace,
  data: { readonly proof_of_work?: ProofOfWork } = {},
): AppError {
  const waitS = Math.max(Math.ceil(waitMs / SECOND_MS), 1)
  const reason = isQueueFull
    ? 'Too many edit codes are waiting to be checked.'
    : 'Too many wrong edit codes were sent for this event.'
  return new AppError('too_many_guesses', `${reason} Try again in ${waitText(waitS)}.`, {
    ...data,
    retry_after_s: waitS,
  })
}

function ignore(): void {}
