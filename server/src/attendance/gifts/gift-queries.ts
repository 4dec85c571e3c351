import { GIVEN_BY_ORGANISER } from '@landpass/client/tokens'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { Approval } from '../../db/schema.ts'
import type { Tx } from '../../db/transaction.ts'

/** What decides whether tokens of an event can be given. */
export interface GivingEvent {
  readonly approval: Approval
  readonly may_give: boolean
  readonly is_cancelled: boolean
}

/**
 * Locks the event against other lists, and against changes of it and of its blocked players, until the transaction ends.
 *
 * @returns undefined for an event that was not made here
 */
export async function lockGivingEvent(tx: Tx, eventId: number): Promise<GivingEvent | undefined> {
  return tx
    .selectFrom('made_event')
    .innerJoin('attendance_event', 'attendance_event.event_id', 'made_event.event_id')
    .select(['approval', 'may_give', 'is_cancelled'])
    .where('made_event.event_id', '=', eventId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Which of the addresses have a token of the event, or a claim. */
export async function withToken(
  db: Db,
  eventId: number,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ address: string }>`
    select address from claim
    where event_id = ${eventId} and address = any(${addresses}::text[])`.execute(db)
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

/** Events with addresses that wait, and places for them. */
export async function giftEvents(db: Db): Promise<readonly number[]> {
  const { rows } = await sql<{ event_id: number }>`
    select event_id from event_place
    where exists (select from attendance_gift as gift where gift.event_id = event_place.event_id)
      and taken < places and not is_cancelled
    order by event_id`.execute(db)
  return rows.map(({ event_id }) => event_id)
}

/** Events with addresses that wait. */
export async function waitingGiftEvents(db: Db): Promise<readonly number[]> {
  const rows = await db
    .selectFrom('attendance_gift')
    .select('event_id')
    .distinct()
    .orderBy('event_id')
    .execute()
  return rows.map(({ event_id }) => event_id)
}

/**
 * Addresses of an event with a claim wait no longer. Counts those whose token was given: each once, however many processes end
 * them.
 *
 * @param addresses left out: all of the event
 * @returns how many wait no longer
 */
export async function endGifts(db: Db, eventId: number, addresses?: readonly string[]): Promise<number> {
  const only = addresses ? sql`and gift.address = any(${addresses}::text[])` : sql``
  const { rows } = await sql<{ ended: number }>`
    with event as (
      select event_id from made_event
      where event_id = ${eventId}
        and exists (select from attendance_gift as gift where gift.event_id = ${eventId} ${only})
      for no key update -- before the rows of the list: who stops a list locks in this order
    ), ended as (
      delete from attendance_gift as gift using event, claim
      where gift.event_id = ${eventId} and claim.event_id = ${eventId} and claim.address = gift.address ${only}
      returning gift.event_id, gift.address
    ), counted as (
      update made_event set given = given + made.count
      from (
        select count(*)::integer as count from ended join token using (event_id, address)
        where event_location = ${GIVEN_BY_ORGANISER}
      ) as made
      where event_id = ${eventId} and made.count > 0
    )
    select count(*)::integer as ended from ended`.execute(db)
  return rows[0]!.ended
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
    .innerJoin('attendance_event', 'attendance_event.event_id', 'made_event.event_id')
    .select(['approval', 'may_give', 'is_cancelled', 'given'])
    .select(({ selectFrom, fn }) =>
      selectFrom('attendance_gift')
        .select(fn.countAll<string | number>().as('count'))
        .whereRef('attendance_gift.event_id', '=', 'made_event.event_id')
        .as('waiting'),
    )
    .where('made_event.event_id', '=', eventId)
    .executeTakeFirst()
  return row && { ...row, waiting: Number(row.waiting) }
}
