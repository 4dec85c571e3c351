import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'

export interface BlockedPlayer {
  /** In lower case. */
  readonly address: string
  readonly sinceMs: number
}

/** The blocked players of an event, the newest first. */
export async function listBlocked(db: Db, eventId: number): Promise<readonly BlockedPlayer[]> {
  return db
    .selectFrom('attendance_blocked')
    .select(['address', 'since_ms as sinceMs'])
    .where('event_id', '=', eventId)
    .orderBy('since_ms', 'desc')
    .orderBy('address')
    .execute()
}

/** How many players of an event are blocked. */
export async function countBlocked(db: Db, eventId: number): Promise<number> {
  const { count } = await db
    .selectFrom('attendance_blocked')
    .select(({ fn }) => fn.countAll<string | number>().as('count'))
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Changes of the list of one event wait for each other until the transaction ends. */
export async function lockBlocked(db: Db, eventId: number): Promise<void> {
  await sql`select from attendance_event where event_id = ${eventId} for no key update`.execute(db)
}

/** Players who are blocked already keep their time. @param addresses in lower case */
export async function addBlocked(
  db: Db,
  eventId: number,
  { addresses, nowMs }: { readonly addresses: readonly string[]; readonly nowMs: number },
): Promise<void> {
  await sql`
    insert into attendance_blocked (event_id, address, since_ms)
    select ${eventId}::integer, address, ${nowMs}::bigint from unnest(${addresses}::text[]) as added (address)
    on conflict do nothing`.execute(db)
}

/** @param addresses in lower case */
export async function deleteBlocked(db: Db, eventId: number, addresses: readonly string[]): Promise<void> {
  await sql`
    delete from attendance_blocked
    where event_id = ${eventId} and address = any(${addresses}::text[])`.execute(db)
}
