import { type RawBuilder, sql } from 'kysely'
import { CLOCK_DIFFERENCE_MS, type DeleteOptions, deleteOldest, deleteUntil } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { countMoves } from '../events/event-count-queries.ts'
import type { TransactionMark } from './grant-queries.ts'

/** How many statements one cleanup runs: others wait for it. */
export const MAX_BATCHES = 20

export interface WithdrawOptions extends DeleteOptions {
  /** Later grants stay: they are signed with the new secret, or with one that another call has made since. */
  readonly storedBefore: TransactionMark
}

/**
 * Deletes the open grants of an event that were stored before a mark, and counts them as expired. There may be a million:
 * each statement deletes `batchRows` of them at most, in the order of their times. The next one goes on where it ended,
 * because to skip the deleted rows took 50 times as long.
 *
 * @returns how many
 */
export async function withdrawOpen(
  db: Db,
  eventId: number,
  { nowMs, batchRows, storedBefore }: WithdrawOptions,
): Promise<number> {
  let fromMs = nowMs + 1
  for (let withdrawn = 0; ; ) {
    const { deleted, lastMs } = await withdrawBatch(db, eventId, { fromMs, batchRows, storedBefore })
    withdrawn += deleted
    if (deleted < batchRows) return withdrawn
    fromMs = lastMs ?? fromMs
  }
}

async function withdrawBatch(
  db: Db,
  eventId: number,
  { fromMs, batchRows, storedBefore }: Omit<WithdrawOptions, 'nowMs'> & { readonly fromMs: number },
): Promise<{ readonly deleted: number; readonly lastMs: number | null }> {
  const { rows } = await sql<{ deleted: number; lastMs: number | null }>`
    with open as (
      select nonce from attendance_grant
      where event_id = ${eventId} and claim_id is null and expires_at_ms >= ${fromMs}
        and ${isStoredBefore(storedBefore)}
      order by expires_at_ms limit ${batchRows} for update
    ), withdrawn as (
      delete from attendance_grant where event_id = ${eventId} and nonce = any(array(select nonce from open))
      returning event_id, expires_at_ms
    ), ${countMoves({ rows: 'withdrawn', of: 'totals', to: 'grants_expired' })}
    select count(*)::integer as deleted, max(expires_at_ms) as "lastMs" from withdrawn cross join counted`.execute(
    db,
  )
  return rows[0]!
}

/**
 * Whether the transaction that wrote this version of the row has an id below the mark. `xmin` has the lower 32 bits of the
 * id: less than half of their range lies between any two transactions.
 */
function isStoredBefore(mark: TransactionMark): RawBuilder<boolean> {
  return sql`((${mark}::bigint - xmin::text::bigint) & 4294967295) between 1 and 2147483647`
}

/**
 * Deletes grants that expired unused, and counts them at their event. A statement deletes those of one event. What is
 * left after {@link MAX_BATCHES} is for the next call.
 */
export async function deleteExpiredGrants(db: Db, { nowMs, batchRows }: DeleteOptions): Promise<void> {
  const isOld = sql`claim_id is null and expires_at_ms < ${nowMs - CLOCK_DIFFERENCE_MS}`
  await deleteOldest(db, 'attendance_grant', isOld, {
    most: MAX_BATCHES,
    // By an array: a join with `old` would read the whole table for each batch
    deleteSome: async (eventId) => {
      const { rows } = await sql<{ deleted: number }>`
        with old as (
          select nonce from attendance_grant where event_id = ${eventId} and ${isOld}
          limit ${batchRows} for update skip locked
        ), deleted as (
          delete from attendance_grant where event_id = ${eventId} and nonce = any(array(select nonce from old))
          returning event_id
        ), ${countMoves({ rows: 'deleted', of: 'totals', to: 'grants_expired' })}
        select count(*)::integer as deleted from deleted cross join counted`.execute(db)
      return rows[0]!.deleted
    },
  })
}

/** Deletes secrets whose time is over. */
export async function deleteEndedSecrets(db: Db, nowMs: number): Promise<void> {
  await deleteUntil(db, 'grant_secret', { column: 'valid_until_ms', lastMs: nowMs - CLOCK_DIFFERENCE_MS - 1 })
}
