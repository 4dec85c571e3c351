import { GIVEN_BY_ORGANISER } from '@landpass/client/tokens'
import { sql } from 'kysely'
import { readAllEvents } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import type { Approval } from '../../db/schema.ts'
import type { Tx } from '../../db/transaction.ts'
import { countMoves, totalOf } from '../events/event-count-queries.ts'

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

/** Events with addresses that wait. */
export async function waitingGiftEvents(db: Db): Promise<readonly number[]> {
  const rows = await readAllEvents(
    db,
    'attendance_gift',
    (gifts) => sql<{ event_id: number }>`select distinct event_id from ${gifts} order by event_id`,
  )
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
    with claimed as (
      select gift.address from attendance_gift as gift
      where gift.event_id = ${eventId} ${only}
        and exists (select from claim where claim.event_id = ${eventId} and claim.address = gift.address)
      order by gift.id for update -- processes that end the same addresses wait for each other in one order
    ), ended as (
      delete from attendance_gift
      where event_id = ${eventId} and address = any(array(select address from claimed)) returning event_id, address
    ), made as (
      select ended.event_id from ended join token on token.event_id = ${eventId} and token.address = ended.address
      where event_location = ${GIVEN_BY_ORGANISER}
    ), ${countMoves({ rows: 'made', of: 'totals', to: 'gifts_given' })}
    select count(*)::integer as ended from ended cross join counted`.execute(db)
  return rows[0]!.ended
}

export interface GiftCounts extends GivingEvent {
  /** Addresses that have no token yet. */
  readonly waiting: number
  readonly given: number
}

/** @returns undefined for an event that was not made here */
export async function countGifts(db: Db, eventId: number): Promise<GiftCounts | undefined> {
  const event = await db
    .selectFrom('made_event')
    .innerJoin('attendance_event', 'attendance_event.event_id', 'made_event.event_id')
    .select(['approval', 'may_give', 'is_cancelled'])
    .where('made_event.event_id', '=', eventId)
    .executeTakeFirst()
  if (!event) return undefined
  const { rows } = await sql<{ waiting: number; given: number }>`
    select (select count(*)::integer from attendance_gift where event_id = ${eventId}) as waiting,
      ${totalOf('gifts_given', eventId)} as given`.execute(db)
  return { ...event, ...rows[0]! }
}
