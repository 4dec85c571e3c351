import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Db } from '../../../../db/engine.ts'
import type { Approval, MadeEventTable } from '../../../../db/schema.ts'
import type { Tx } from '../../../../db/transaction.ts'
import type { EventMove } from '../../../events/event-options.ts'
import type { Event } from '../../../events/event-queries.ts'
import { deleteGifts } from '../../../events/gift-list-queries.ts'
import { openPlaces, setPlacesCancelled } from '../../../events/place-queries.ts'
import { endOfLastDayMs } from '../../poap/issuer-dates.ts'
import type { Picture } from './content-queries.ts'

/** What decides about the tokens of an event that was made here. */
export type MadeEvent = Pick<
  Selectable<MadeEventTable>,
  'event_id' | 'edit_code_hash' | 'supply' | 'approval' | 'hides_holders' | 'is_answered'
>

export interface EventToMake {
  readonly record: (eventId: number) => Readonly<Record<string, unknown>>
  readonly coordinates: string
  readonly requiresCaptcha: boolean
  readonly requiresPresence: boolean
  readonly startAtMs: number | null
  readonly endAtMs: number | null
  readonly timeZone: string | null
  readonly expiresAtMs: number
  readonly editCodeHash: Buffer
  readonly supply: number
  readonly approval: Approval
  readonly hidesHolders: boolean
  readonly image: Picture | undefined
  readonly nowMs: number
}

/** Makes an event with a number of its own. Its maker has no answer yet. */
export async function insertMadeEvent(tx: Tx, event: EventToMake): Promise<Event> {
  const { rows } = await sql<{ id: number }>`select nextval('made_event_number') as id`.execute(tx)
  const eventId = Number(rows[0]!.id)
  const inserted = await tx
    .insertInto('attendance_event')
    .values({
      event_id: eventId,
      uuid: randomUUID(),
      issuer_record: JSON.stringify(event.record(eventId)),
      coordinates: event.coordinates,
      enabled: true,
      requires_captcha: event.requiresCaptcha,
      requires_presence: event.requiresPresence,
      allows_guests: false,
      distribution_start_at_ms: event.startAtMs,
      distribution_end_at_ms: event.endAtMs,
      time_zone: event.timeZone,
      expires_at_ms: event.expiresAtMs,
      codes_asked_at_ms: event.nowMs,
      created_at_ms: event.nowMs,
      updated_at_ms: event.nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('made_event')
    .values({
      event_id: eventId,
      edit_code_hash: event.editCodeHash,
      supply: event.supply,
      approval: event.approval,
      hides_holders: event.hidesHolders,
      image: event.image?.file ?? null,
      draws_image: event.image?.isDrawn ?? false,
      made_at_ms: event.nowMs,
      is_answered: false,
    })
    .execute()
  await openPlaces(tx, eventId)
  return inserted
}

export async function findMadeEvent(db: Db, eventId: number): Promise<MadeEvent | undefined> {
  return db
    .selectFrom('made_event')
    .select(['event_id', 'edit_code_hash', 'supply', 'approval', 'hides_holders', 'is_answered'])
    .where('event_id', '=', eventId)
    .executeTakeFirst()
}

/** The makers of these events have their edit codes. */
export async function markAnswered(db: Db, eventIds: readonly number[]): Promise<void> {
  await db.updateTable('made_event').set({ is_answered: true }).where('event_id', 'in', eventIds).execute()
}

/** The picture of an event as a PNG; undefined where it has none, or the operator has not approved the event. */
export async function findImage(db: Db, eventId: number): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('made_event')
    .select('image')
    .where('event_id', '=', eventId)
    .where('approval', '=', 'approved')
    .executeTakeFirst()
  return row?.image ? Buffer.from(row.image) : undefined
}

/** The picture of an event whatever the operator has answered: for the operator alone. */
export async function findAnyImage(db: Db, eventId: number): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('made_event')
    .select('image')
    .where('event_id', '=', eventId)
    .executeTakeFirst()
  return row?.image ? Buffer.from(row.image) : undefined
}

/**
 * Stores the operator's answer to an event. One that is not approved has no free places any more, from the same transaction on.
 *
 * @returns how many places are taken
 */
export async function setApproval(
  tx: Tx,
  eventId: number,
  answer: {
    readonly approval: Exclude<Approval, 'waiting'>
    readonly reason: string | null
    readonly decided_at_ms: number
  },
): Promise<number> {
  await tx.updateTable('made_event').set(answer).where('event_id', '=', eventId).execute()
  return openPlaces(tx, eventId)
}

/** Where the operator ends the permission to give tokens, the addresses that wait get none. */
export async function setMayGive(tx: Tx, eventId: number, mayGive: boolean): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('made_event')
    .set({ may_give: mayGive })
    .where('event_id', '=', eventId)
    .where('may_give', '<>', mayGive)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n && !mayGive) await deleteGifts(tx, eventId)
}

export async function setHidesHolders(db: Db, eventId: number, hidesHolders: boolean): Promise<void> {
  await db
    .updateTable('made_event')
    .set({ hides_holders: hidesHolders })
    .where('event_id', '=', eventId)
    .execute()
}

/**
 * Deletes the pictures of events without a row in `token`, signed or not, that were refused before a time, and those of
 * refused changes that were sent before it.
 */
export async function deleteRefusedImages(db: Db, beforeMs: number): Promise<void> {
  await db
    .updateTable('made_event_change')
    .set({ image: null, draws_image: false })
    .where('is_refused', '=', true)
    .where('image', 'is not', null)
    .where('sent_at_ms', '<', beforeMs)
    .execute()
  const isOfRefused = sql<boolean>`approval = 'refused' and image is not null and decided_at_ms < ${beforeMs}`
  const refused = await db.selectFrom('made_event').select('event_id').where(isOfRefused).execute()
  for (const { event_id } of refused) {
    const token = db.selectFrom('token').select('id').where('event_id', '=', event_id).limit(1)
    if ((await token.executeTakeFirst()) !== undefined) continue
    await db
      .updateTable('made_event')
      .set({ image: null, draws_image: false })
      .where('event_id', '=', event_id)
      .where(isOfRefused)
      .execute()
  }
}

/** Stores when an event is, and whether it was cancelled: then the addresses that wait for a token get none. */
export async function moveEvent(
  tx: Tx,
  eventId: number,
  { record, move, timeZone, isCancelled, nowMs }: MovedEvent,
): Promise<void> {
  await tx
    .updateTable('attendance_event')
    .set({
      updated_at_ms: nowMs,
      ...(move && {
        issuer_record: JSON.stringify(record),
        distribution_start_at_ms: move.startAtMs,
        distribution_end_at_ms: move.endAtMs,
        expires_at_ms: endOfLastDayMs(move.endDate)!,
      }),
      ...(timeZone !== undefined && { time_zone: timeZone || null }),
      ...(isCancelled !== undefined && { is_cancelled: isCancelled }),
    })
    .where('event_id', '=', eventId)
    .execute()
  if (isCancelled !== undefined) await setPlacesCancelled(tx, eventId, isCancelled)
  if (isCancelled) await deleteGifts(tx, eventId)
}

interface MovedEvent {
  /** The record of the issuer, with the days. */
  readonly record: Readonly<Record<string, unknown>>
  readonly move: EventMove | undefined
  /** Empty for none. */
  readonly timeZone: string | undefined
  readonly isCancelled: boolean | undefined
  readonly nowMs: number
}

/** The number that the next event that is made here gets, if no other is made before. */
export async function readNextEventNumber(db: Db): Promise<number> {
  const { rows } = await sql<{ next: string | number }>`
    select case when is_called then last_value + 1 else last_value end as next from made_event_number
  `.execute(db)
  return Number(rows[0]!.next)
}
