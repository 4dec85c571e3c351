import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../errors.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import {
  addBlocked,
  type BlockedPlayer,
  countBlocked,
  deleteBlocked,
  listBlocked,
  lockBlocked,
} from './blocked-queries.ts'
import { deleteGifts } from './gift-list-queries.ts'

/** How many players an organiser can block for one event. */
export const MAX_BLOCKED = 1_000

/** Addresses in lower case. */
export interface BlockedChange {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/**
 * Players to whom an organiser gives no token of an event. Claims read the list of an event once a second at most, so a
 * process may learn of a change of another one a second late.
 */
export class BlockedPlayers {
  private readonly db: Db
  private readonly clock: Clock
  private readonly lists = new OneSecondCache<ReadonlySet<string>>()
  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /** @param address in lower case @throws {AppError} `player_blocked` */
  async assertNotBlocked(eventId: number, address: string): Promise<void> {
    const blocked = await this.lists.get(String(eventId), async () => {
      const players = await listBlocked(this.db, eventId)
      return new Set(players.map((player) => player.address))
    })
    if (blocked.has(address)) throw playerBlocked()
  }

  /**
   * Removes players from the list, then adds others, who wait for no token of the organiser any more. A list that would be too long is not changed at all.
   *
   * @returns the whole list, the newest first
   * @throws {AppError} `invalid_parameter`
   */
  async change(eventId: number, { add, remove }: BlockedChange): Promise<readonly BlockedPlayer[]> {
    const nowMs = this.clock.nowMs()
    try {
      return await inTransaction(this.db, async (tx) => {
        if (add.length + remove.length === 0) return listBlocked(tx, eventId)
        await lockBlocked(tx, eventId)
        await deleteBlocked(tx, eventId, remove)
        await addBlocked(tx, eventId, { addresses: add, nowMs })
        if (add.length > 0) await deleteGifts(tx, eventId, add)
        if ((await countBlocked(tx, eventId)) > MAX_BLOCKED) throw tooManyBlocked()
        return listBlocked(tx, eventId)
      })
    } finally {
      this.lists.forget(String(eventId))
    }
  }
}

/** The refusal of a claim of a blocked player. */
export function playerBlocked(): AppError {
  return new AppError(
    'player_blocked',
    'The organiser does not give you a token of this event. Nothing was used up; please ask the organiser.',
  )
}

function tooManyBlocked(): AppError {
  return new AppError(
    'invalid_parameter',
    `add has too many players: at most ${MAX_BLOCKED} can be blocked for an event. Nothing was changed.`,
    { parameter: 'add', value: null, allowed: `at most ${MAX_BLOCKED} blocked players` },
  )
}
