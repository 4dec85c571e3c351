import { GIVEN_BY_ORGANISER } from '@landpass/client/tokens'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { Approval } from '../../db/schema.ts'
import type { Tx } from '../../db/transaction.ts'

/** What decides whether tokens of an event can be given. */
export interface GivingEvent {
  readonly approval: Approval
  readonly may_give: boolean
}

/** Locks the event against other lists until the transaction ends. @returns undefined for an event that was not made here */
export async function lockGivingEvent(tx: Tx, eventId: number): Promise<GivingEvent | undefined> {
  return tx
    .selectFrom('made_event')
    .select(['approval', 'may_give'])
    .where('event_id', '=', eventId)
    .forUpdate()
    .executeTakeFirst()
}

/** Which of the addresses have a token of the event, or a claim that is not refused. */
export async function withToken(
  db: Db,
  eventId: number,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ address: string }>`
    select address from claim
    where event_id = ${eventId} and address = any(${addresses}::text[]) and state <> 'failed'`.execute(db)
  return new Set(rows.map(({ address }) => address))
}

/** Which of the addresses are blocked. */
export async function blockedOf(
  db: Db,
  eventId: number,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ address: string }>`
    select address from attendance_blocked
    where event_id = ${eventId} and address = any(${addresses}::text[])`.execute(db)
  return new Set(rows.map(({ address }) => address))
}

/** Stores addresses in their order. @returns how many of them did not wait already */
export async function addGifts(tx: Tx, eventId: number, addresses: readonly string[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into attendance_gift (event_id, address)
    select ${eventId}::integer, address from unnest(${addresses}::text[]) with ordinality as list (address, place)
    order by place on conflict do nothing`.execute(tx)
  return Number(numAffectedRows)
}

/** The addresses that wait the longest. */
export async function nextGifts(db: Db, eventId: number, limit: number): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('attendance_gift')
    .select('address')
    .where('event_id', '=', eventId)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ address }) => address)
}

/** Events with addresses that wait, and codes for them. */
export async function giftEvents(db: Db): Promise<readonly number[]> {
  const { rows } = await sql<{ event_id: number }>`
    select event_id from made_event
    where exists (select from attendance_gift as gift where gift.event_id = made_event.event_id)
      and approval = 'approved'
      and not exists (select from attendance_event as event where event.event_id = made_event.event_id and is_cancelled)
      and exists (select from claim_code as code where code.event_id = made_event.event_id and state = 'free')
    order by event_id`.execute(db)
  return rows.map(({ event_id }) => event_id)
}

/** Lets addresses wait no longer, and counts those whose token was given: each once, however many processes end them. */
export async function endGifts(db: Db, eventId: number, addresses: readonly string[]): Promise<void> {
  await sql`
    with ended as (
      delete from attendance_gift where event_id = ${eventId} and address = any(${addresses}::text[]) returning address
    )
    update made_event set given = given + (
      select count(*)::integer from ended join token using (address)
      where token.event_id = ${eventId} and event_location = ${GIVEN_BY_ORGANISER}
    ) where event_id = ${eventId}`.execute(db)
}

/** The unsigned message of a claim that failed says from now on that its token is given. */
export async function markAsGiven(db: Db, eventId: number, address: string): Promise<void> {
  await db
    .updateTable('token')
    .set({ event_location: GIVEN_BY_ORGANISER })
    .where('event_id', '=', eventId)
    .where('address', '=', address)
    .where('signature', 'is', null)
    .execute()
}

export interface GiftCounts extends GivingEvent {
  /** Addresses that have no token yet. */
  readonly waiting: number
  readonly given: number
}

/** @returns undefined for an event that was not made here */
export async function countGifts(db: Db, eventId: number): Promise<GiftCounts | undefined> {
  const row = await db
    .selectFrom('made_event')
    .select(['approval', 'may_give', 'given'])
    .select(({ selectFrom, fn }) =>
      selectFrom('attendance_gift')
        .select(fn.countAll<string | number>().as('count'))
        .whereRef('attendance_gift.event_id', '=', 'made_event.event_id')
        .as('waiting'),
    )
    .where('event_id', '=', eventId)
    .executeTakeFirst()
  return row && { ...row, waiting: Number(row.waiting) }
}
