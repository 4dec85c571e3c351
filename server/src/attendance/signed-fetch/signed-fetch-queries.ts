import { sql } from 'kysely'
import { CLOCK_DIFFERENCE_MS, type DeleteOptions, deleteOldest } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import type { SingleUse } from './signed-request.ts'

/** Stores that a request was used; false when any process has stored it before. */
export async function insertSeenRequest(
  db: Db,
  { hash, expiresAtMs }: SingleUse,
  eventId: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('seen_request')
    .values({ event_id: eventId, hash, expires_at_ms: expiresAtMs })
    // One statement: a query before it would let two equal requests through
    .onConflict((conflict) => conflict.columns(['event_id', 'hash']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Deletes requests that no process can accept any more, event by event, in batches. @returns how many */
export async function deleteExpiredRequests(db: Db, { nowMs, batchRows }: DeleteOptions): Promise<number> {
  const isOld = sql`expires_at_ms < ${nowMs - CLOCK_DIFFERENCE_MS}`
  return deleteOldest(db, 'seen_request', isOld, {
    // Other processes delete too: rows that they have locked are skipped
    deleteSome: async (eventId) => {
      const { numAffectedRows } = await sql`
        delete from seen_request where event_id = ${eventId} and hash in (
          select hash from seen_request where event_id = ${eventId} and ${isOld}
          limit ${batchRows} for update skip locked
        )`.execute(db)
      return Number(numAffectedRows)
    },
  })
}
