import { type Clock, SECOND_MS, withTimeLimit } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { isDatabaseRefusal } from '../../db/statement-error.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import type { EventHolds } from '../events/event-holds.ts'
import type { Pacer } from '../issuers/poap/pacer.ts'
import { countReserved } from './claim-queries.ts'

/** A step of a claim reads the code, then asks for the token. */
const CALLS_PER_CLAIM = 2
/** For so long an answer waits for a new count, where an old one is known. */
const WAIT_MS = SECOND_MS

export interface QueueOfClaims {
  /** How many claims of all events wait for the issuer, without those of held events. */
  readonly length: number
  /** About how long until the last of them is answered, or until a claim of a held event asks again. */
  readonly waitS: number
}

export interface ClaimQueueOptions {
  readonly db: Db
  readonly clock: Clock
  readonly holds: Pick<EventHolds, 'findHeld'>
  readonly pacer: Pick<Pacer, 'claimCallsPerSecond'>
}

/**
 * How long players wait for the issuer: from the claims in the database and the rate of this process. With several
 * processes the wait is shorter.
 */
export class ClaimQueue {
  private readonly options: ClaimQueueOptions
  private readonly lengths = new OneSecondCache<number>()
  private lastLength: number | undefined
  /** One count at a time: each that waits for a silent worker of the database would take one more connection. */
  private counting: Promise<number> | undefined
  constructor(options: ClaimQueueOptions) {
    this.options = options
  }

  /** For a claim of the event; at most a second old, where the claims can be counted in a second. */
  async look(eventId: number): Promise<QueueOfClaims> {
    const { clock, holds, pacer } = this.options
    const counting = this.lengths.get('all', () => this.countOnce())
    const last = this.lastLength
    const length = last === undefined ? await counting : await withTimeLimit(counting, WAIT_MS, () => last)
    const hold = await holds.findHeld(eventId)
    if (hold) return { length, waitS: Math.max(Math.ceil((hold.probe_at_ms - clock.nowMs()) / SECOND_MS), 1) }
    const waitS = (CALLS_PER_CLAIM * length) / pacer.claimCallsPerSecond()
    return { length, waitS: Math.max(Math.ceil(waitS), 1) }
  }

  private countOnce(): Promise<number> {
    this.counting ??= this.count().finally(() => {
      this.counting = undefined
    })
    return this.counting
  }

  private async count(): Promise<number> {
    try {
      this.lastLength = await countReserved(this.options.db)
    } catch (error) {
      // The claim is accepted
      if (!isDatabaseRefusal(error)) throw error
    }
    return this.lastLength ?? 0
  }
}
