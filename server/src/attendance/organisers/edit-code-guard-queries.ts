import { type Selectable, sql } from 'kysely'
import { deleteUntil } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import type { EditCodeGuessTable } from '../../db/schema.ts'
import type { Tx } from '../../db/transaction.ts'

/**
 * First key of the advisory locks on edit codes: `EDIT` in ASCII. The second key is the event id. PostgreSQL keeps
 * locks with two keys apart from locks with one key: all other advisory locks of this project have one key.
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

/** The guesses of one budget after a time, the oldest first. */
export function listGuesses(
  tx: Tx,
  { eventId, budget, afterMs }: { eventId: number; budget: string; afterMs: number },
): Promise<Guess[]> {
  return tx
    .selectFrom('edit_code_guess')
    .select(['at_ms', 'is_judged'])
    .where('event_id', '=', eventId)
    .where('budget', '=', budget)
    .where('at_ms', '>', afterMs)
    .orderBy('at_ms')
    .execute()
}

/** How many guesses of one budget were wrong after a time. */
export async function countWrong(
  db: Db,
  { eventId, budget, afterMs }: { eventId: number; budget: string; afterMs: number },
): Promise<number> {
  const { count } = await db
    .selectFrom('edit_code_guess')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('event_id', '=', eventId)
    .where('budget', '=', budget)
    .where('is_judged', '=', true)
    .where('at_ms', '>', afterMs)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export interface NewGuess {
  readonly eventId: number
  readonly budget: string
  readonly atMs: number
  /** The id of a solved challenge. */
  readonly challenge: string | undefined
}

/** What names a guess. */
export type GuessKey = Pick<Selectable<EditCodeGuessTable>, 'event_id' | 'id'>

/** @returns undefined when the challenge was used before */
export async function insertGuess(
  tx: Tx,
  { eventId, budget, atMs, challenge }: NewGuess,
): Promise<GuessKey | undefined> {
  return tx
    .insertInto('edit_code_guess')
    .values({ event_id: eventId, at_ms: atMs, is_judged: false, budget, challenge: challenge ?? null })
    .onConflict((conflict) => conflict.columns(['event_id', 'challenge']).doNothing())
    .returning(['event_id', 'id'])
    .executeTakeFirst()
}

/** Keeps the challenge of a right guess, so that it is not used again; the guess no longer counts. */
export async function markSpent(db: Db, { event_id, id }: GuessKey): Promise<void> {
  await db
    .updateTable('edit_code_guess')
    .set({ is_judged: true, budget: 'spent' })
    .where('event_id', '=', event_id)
    .where('id', '=', id)
    .execute()
}

export async function markJudged(db: Db, { event_id, id }: GuessKey): Promise<void> {
  await db
    .updateTable('edit_code_guess')
    .set({ is_judged: true })
    .where('event_id', '=', event_id)
    .where('id', '=', id)
    .execute()
}

export async function deleteGuess(db: Db, { event_id, id }: GuessKey): Promise<void> {
  await db.deleteFrom('edit_code_guess').where('event_id', '=', event_id).where('id', '=', id).execute()
}

export async function deleteGuessesUntil(db: Db, atMs: number): Promise<void> {
  await deleteUntil(db, 'edit_code_guess', { column: 'at_ms', lastMs: atMs })
}
