import { type Clock, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'
import { AppError } from '../../errors.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import { waitText } from '../wait-text.ts'
import {
  type Contradiction,
  countContradiction,
  type EventHold,
  endHold,
  findHold,
  freeDoubtedCode,
  type HeldEvent,
  isHeld,
  takeProbe,
} from './hold-queries.ts'

/** The first pause of a held event. Each pause is twice the one before, up to the longest. */
const FIRST_PAUSE_MS = MINUTE_MS
const LONGEST_PAUSE_MS = 15 * MINUTE_MS

/**
 * Events whose codes the issuer answers contradictorily: it calls a code of its own list unknown, gives the token of a
 * claim to somebody else, or calls the codes of several claims in a row used. One such answer can be true of one code. Two in a row are a fault of the issuer or of its
 * data, and then every further claim would use up a code. So the event is held:
 *
 *   (none) ──contradictory answer──▶ 1 answer ──a second one──▶ held ──pause──▶ one claim asks ──▶ held, longer pause
 *
 * From everywhere a claim that the issuer accepts leads back to (none), and so does loading the codes. While an event is
 * held, its claims keep their codes and wait, and new claims are refused. After 1, 2, 4, 8, then 15 minutes one claim
 * asks the issuer again.
 *
 * All is in the database, so that it holds for all processes; a process may learn of a hold a second late.
 */
export class EventHolds {
  private readonly db: Db
  private readonly clock: Clock
  private readonly holds = new OneSecondCache<EventHold | undefined>()
  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /** What is counted for an event; up to a second old. */
  find(eventId: number): Promise<EventHold | undefined> {
    return this.holds.get(String(eventId), () => findHold(this.db, eventId))
  }

  /** The event, if it is held; up to a second old. */
  async findHeld(eventId: number): Promise<HeldEvent | undefined> {
    const hold = await this.find(eventId)
    return isHeld(hold) ? hold : undefined
  }

  /**
   * Refuses a new claim of a held event, until the time at which a claim may ask again.
   *
   * @throws {AppError} `event_held`
   */
  async assertNotHeld(eventId: number): Promise<void> {
    const hold = await this.findHeld(eventId)
    const waitMs = hold ? hold.probe_at_ms - this.clock.nowMs() : 0
    if (waitMs <= 0) return
    throw eventHeld(Math.ceil(waitMs / 1000))
  }

  /** Whether a claim of a held event may ask the issuer now: one claim, when the pause is over. */
  async mayAsk(hold: HeldEvent): Promise<boolean> {
    const nowMs = this.clock.nowMs()
    if (nowMs < hold.probe_at_ms) return false
    const nextProbeAtMs = nowMs + pauseAfterProbes(hold.probes + 1)
    const mayAsk = await takeProbe(this.db, hold, { nowMs, nextProbeAtMs })
    this.forget(hold.event_id)
    return mayAsk
  }

  /**
   * Counts a contradictory answer, or several at once, which hold the event; and does `work` in the same transaction.
   * The code of the first answer is free again when the event is held. `work` gets what is counted.
   */
  async contradicted<Result>(
    about: Omit<Contradiction, 'nowMs' | 'probeAtMs'>,
    work: (tx: Tx, hold: EventHold) => Promise<Result>,
  ): Promise<Result> {
    const nowMs = this.clock.nowMs()
    const probeAtMs = nowMs + pauseAfterProbes(0)
    try {
      return await inTransaction(this.db, async (tx) => {
        const hold = await countContradiction(tx, { ...about, nowMs, probeAtMs })
        if (hold.answers === 2) await freeDoubtedCode(tx, hold)
        return await work(tx, hold)
      })
    } finally {
      this.forget(about.eventId)
    }
  }

  /** The claims of an event go on: its codes were loaded again. */
  async end(eventId: number): Promise<void> {
    await endHold(this.db, eventId, this.clock.nowMs())
    this.forget(eventId)
  }

  forget(eventId: number): void {
    this.holds.forget(String(eventId))
  }
}

/** @param waitS seconds until a claim may ask the issuer again */
export function eventHeld(waitS: number): AppError {
  return new AppError(
    'event_held',
    `The token issuer gives contradictory answers for this event, so its claims are paused. Nothing was used up; try again in ${waitText(waitS)}, or ask the organiser.`,
    { retry_after_s: waitS },
  )
}

/**
 * The pause in milliseconds after so many probes.
 *
 * @example
 * pauseAfterProbes(2) // 240000: 4 minutes
 */
function pauseAfterProbes(probes: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(probes, 10), LONGEST_PAUSE_MS)
}
