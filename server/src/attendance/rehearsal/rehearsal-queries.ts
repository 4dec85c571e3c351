import { sql } from 'kysely'
import { deleteUntil } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'

/** How many players of one rehearsal are remembered and counted. Further ones get their answers all the same. */
const MAX_PLAYERS = 1_000

export interface RehearsedBy {
  readonly eventId: number
  /** In lower case. */
  readonly address: string
  readonly nowMs: number
}

export interface RehearsalCounts {
  /** Players whose claim succeeded. */
  readonly claims: number
  readonly refusals: number
}

/** Notes a claim that succeeds. @returns false for a player whose claim has succeeded before in this rehearsal */
export async function noteRehearsedClaim(db: Db, { eventId, address, nowMs }: RehearsedBy): Promise<boolean> {
  const { rows } = await sql`
    insert into attendance_rehearsal as known (event_id, address, claimed_at_ms, refusals, at_ms)
    select ${eventId}::integer, ${address}::text, ${nowMs}::bigint, 0, ${nowMs}::bigint
    where ${hasRoom(eventId, address)}
    on conflict (event_id, address) do update
    set claimed_at_ms = excluded.claimed_at_ms, at_ms = excluded.at_ms where known.claimed_at_ms is null
    returning event_id`.execute(db)
  if (rows.length > 0) return true
  const known = await db
    .selectFrom('attendance_rehearsal')
    .select('claimed_at_ms')
    .where('event_id', '=', eventId)
    .where('address', '=', address)
    .where('claimed_at_ms', 'is not', null)
    .executeTakeFirst()
  return known === undefined
}

export async function noteRehearsedRefusal(db: Db, { eventId, address, nowMs }: RehearsedBy): Promise<void> {
  await sql`
    insert into attendance_rehearsal as known (event_id, address, claimed_at_ms, refusals, at_ms)
    select ${eventId}::integer, ${address}::text, null, 1, ${nowMs}::bigint
    where ${hasRoom(eventId, address)}
    on conflict (event_id, address) do update
    set refusals = known.refusals + 1, at_ms = excluded.at_ms`.execute(db)
}

function hasRoom(eventId: number, address: string) {
  return sql<boolean>`(
    (select count(*) from attendance_rehearsal where event_id = ${eventId}) < ${MAX_PLAYERS}::integer
    or exists (select from attendance_rehearsal where event_id = ${eventId} and address = ${address})
  )`
}

/** What happened in the rehearsal of an event that is on, or was the last one. */
export async function countRehearsal(db: Db, eventId: number): Promise<RehearsalCounts> {
  const { claims, refusals } = await db
    .selectFrom('attendance_rehearsal')
    .select(({ fn }) => [
      fn.count<string>('claimed_at_ms').as('claims'),
      fn.sum<string | null>('refusals').as('refusals'),
    ])
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow()
  return { claims: Number(claims), refusals: Number(refusals) }
}

export async function forgetRehearsal(db: Db, eventId: number): Promise<void> {
  await db.deleteFrom('attendance_rehearsal').where('event_id', '=', eventId).execute()
}

/** Whether any event rehearses at a time. */
export async function isAnyRehearsing(db: Db, nowMs: number): Promise<boolean> {
  const one = await db
    .selectFrom('attendance_event')
    .select('event_id')
    .where('rehearsal_until_ms', '>', nowMs)
    .limit(1)
    .executeTakeFirst()
  return one !== undefined
}

/** Deletes what players did before a time, and ends the rehearsals whose time is over. */
export async function endRehearsals(
  db: Db,
  { nowMs, forgetBeforeMs }: { readonly nowMs: number; readonly forgetBeforeMs: number },
): Promise<void> {
  await deleteUntil(db, 'attendance_rehearsal', { column: 'at_ms', lastMs: forgetBeforeMs - 1 })
  // Last: where the table is on several servers, it needs all of them
  await db
    .updateTable('attendance_event')
    .set({ rehearsal_until_ms: null })
    .where('rehearsal_until_ms', '<=', nowMs)
    .execute()
}
