import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { Tx } from '../../db/transaction.ts'

/**
 * Places of events that were made here: each is a token that a claim can take. They are counted in one row of `event_place`,
 * and none has a row of its own, so an event of a million places costs as much as one of ten.
 *
 * Tokens are numbered from 1 on without gaps: the statement that inserts claims takes as many places as it inserts, and numbers
 * their tokens with them (claims/reserve-queries.ts). A claim never gives its place back.
 */

/**
 * Opens as many places as the event has tokens; none where the operator has not approved it. Claims wait until the transaction
 * ends.
 *
 * @returns how many are taken
 */
export async function openPlaces(tx: Tx, eventId: number): Promise<number> {
  const { rows } = await sql<{ taken: number }>`
    insert into event_place (event_id, places, taken)
    select event_id, case when approval = 'approved' then supply else 0 end, 0 from made_event where event_id = ${eventId}
    on conflict (event_id) do update set places = excluded.places returning taken`.execute(tx)
  return rows[0]!.taken
}

/** Whether a place of an event is free: not where its organiser has cancelled it. */
export const hasFreePlace = (eventId: number): RawBuilder<boolean> =>
  sql<boolean>`exists (
    select from event_place where event_id = ${eventId} and taken < places and not is_cancelled
  )`

/** Closes the places of an event that its organiser cancels, or opens them again. Claims wait until the transaction ends. */
export async function setPlacesCancelled(tx: Tx, eventId: number, isCancelled: boolean): Promise<void> {
  await tx
    .updateTable('event_place')
    .set({ is_cancelled: isCancelled })
    .where('event_id', '=', eventId)
    .execute()
}

/** How many places of an event are open, or taken. */
export async function countPlaces(db: Db, eventId: number) {
  return db
    .selectFrom('event_place')
    .select(['places', 'taken'])
    .where('event_id', '=', eventId)
    .executeTakeFirst()
}
