import { sql } from 'kysely'
import type { Db } from '../db/engine.ts'
import type { Tx } from '../db/transaction.ts'

/**
 * First key of the advisory locks on edit codes: `EDIT` in ASCII. The second key is the event id. PostgreSQL keeps
 * locks with two keys apart from locks with one key, which the migrations use. No other part of the project locks.
 */
const EDIT_CODE_LOCKS = 0x45_44_49_54

export interface Guess {
  readonly at_ms: number
  readonly is_judged: boolean
}

/**
 * Locks the guesses of one event, for all processes, until the transaction ends. A row lock cannot do that: the first
 * guess comes before the event has a row. (On the embedded engine the lock is always granted and not needed, because
 * transactions run one after the other there.)
 */
export async function lockGuesses(tx: Tx, eventId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${EDIT_CODE_LOCKS}::integer, ${eventId}::integer)`.execute(tx)
}

/** The guesses after a time, the oldest first. */
export function listGuesses(tx: Tx, eventId: number, afterMs: number): Promise<Guess[]> {
  return tx
    .selectFrom('edit_code_guess')
    .select(['at_ms', 'is_judged'])
    .where('event_id', '=', eventId)
    .where('at_ms', '>', afterMs)
    .orderBy('at_ms')
    .execute()
}

export async function insertGuess(tx: Tx, eventId: number, atMs: number): Promise<number> {
  const { id } = await tx
    .insertInto('edit_code_guess')
    .values({ event_id: eventId, at_ms: atMs, is_judged: false })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function markJudged(db: Db, id: number): Promise<void> {
  await db.updateTable('edit_code_guess').set({ is_judged: true }).where('id', '=', id).execute()
}

export async function deleteGuess(db: Db, id: number): Promise<void> {
  await db.deleteFrom('edit_code_guess').where('id', '=', id).execute()
}

export async function deleteGuessesUntil(db: Db, atMs: number): Promise<void> {
  await db.deleteFrom('edit_code_guess').where('at_ms', '<=', atMs).execute()
}
