import { randomUUID } from 'node:crypto'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { AttendanceEventTable, ClaimState, CodeState } from '../../db/schema.ts'
import { FIRST_OWN_EVENT_ID } from '../issuers/own/own-event-ids.ts'
import { type EventName, eventNotFound } from './event-name.ts'

/** A registered event. */
export type Event = Omit<Selectable<AttendanceEventTable>, 'issuer_record'> & {
  readonly issuer_record: Readonly<Record<string, unknown>>
}

/** The fields of an event that its organiser may change. */
export type EventOptions = Partial<
  Pick<
    Event,
    | 'coordinates'
    | 'enabled'
    | 'requires_captcha'
    | 'requires_presence'
    | 'requires_grant'
    | 'allows_guests'
    | 'distribution_start_at_ms'
    | 'distribution_end_at_ms'
    | 'rehearsal_until_ms'
  >
>

export async function findEvent(db: Db, name: EventName): Promise<Event | undefined> {
  const query = db.selectFrom('attendance_event').selectAll()
  return 'uuid' in name
    ? query.where('uuid', '=', name.uuid).executeTakeFirst()
    : query.where('event_id', '=', name.eventId).executeTakeFirst()
}

/** @throws {AppError} `event_not_found` */
export async function getEvent(db: Db, name: EventName): Promise<Event> {
  const event = await findEvent(db, name)
  if (!event) throw eventNotFound(name)
  return event
}

/** Whether the operator has refused an event; false for one that was not made here. */
export async function wasRefused(db: Db, eventId: number): Promise<boolean> {
  const row = await db
    .selectFrom('made_event')
    .select('event_id')
    .where('event_id', '=', eventId)
    .where('approval', '=', 'refused')
    .executeTakeFirst()
  return row !== undefined
}

/** The issuer's number of an event; a UUID is looked up. @throws {AppError} `event_not_found` */
export async function getEventId(db: Db, name: EventName): Promise<number> {
  return 'eventId' in name ? name.eventId : (await getEvent(db, name)).event_id
}

export interface Registration {
  readonly eventId: number
  readonly record: Readonly<Record<string, unknown>>
  readonly coordinates: string
  readonly expiresAtMs: number | undefined
  readonly nowMs: number
}

/** Registers an event, or updates record, coordinates and expiry; its UUID and options stay. */
export async function saveEvent(db: Db, registration: Registration): Promise<Event> {
  const { eventId, coordinates, nowMs } = registration
  const updates = {
    issuer_record: JSON.stringify(registration.record),
    coordinates,
    expires_at_ms: registration.expiresAtMs ?? null,
    updated_at_ms: nowMs,
  }
  return db
    .insertInto('attendance_event')
    .values({
      event_id: eventId,
      uuid: randomUUID(),
      enabled: true,
      requires_captcha: false,
      requires_presence: true,
      distribution_start_at_ms: null,
      distribution_end_at_ms: null,
      codes_asked_at_ms: null,
      created_at_ms: nowMs,
      ...updates,
    })
    .onConflict((conflict) => conflict.column('event_id').doUpdateSet(updates))
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function changeEvent(
  db: Db,
  eventId: number,
  options: EventOptions,
  nowMs: number,
): Promise<Event> {
  return db
    .updateTable('attendance_event')
    .set({ ...options, updated_at_ms: nowMs })
    .where('event_id', '=', eventId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export type CodeCounts = Readonly<Record<CodeState, number>>

/**
 * How many codes of an event are in each state. Takes the same time however many there are: see `EventCountTable`. A place of an
 * event that was made here counts as a code: free, held by a claim whose token is not signed yet, or used.
 */
export function countCodes(db: Db, eventId: number): Promise<CodeCounts> {
  return sumCodes(db, sql`event_id = ${eventId}`)
}

/** How many codes of all events are in each state. */
export function countAllCodes(db: Db): Promise<CodeCounts> {
  return sumCodes(db, sql`true`)
}

/** The rows of `event_count` with the hour -1 have the totals. */
async function sumCodes(db: Db, ofEvents: RawBuilder<unknown>): Promise<CodeCounts> {
  const sumOf = (ofOther: CodeState, ofOwn: ClaimState) => sql`
    coalesce(sum(case when event_id < ${FIRST_OWN_EVENT_ID} then ${sql.ref(ofOther)} else ${sql.ref(ofOwn)} end), 0)::bigint`
  const { rows } = await sql<CodeCounts>`
    select (free + places)::bigint as free, held, used, used_elsewhere, void from (
      select coalesce(sum(free), 0) as free, ${sumOf('held', 'reserved')} as held, ${sumOf('used', 'minted')} as used,
        coalesce(sum(used_elsewhere), 0)::bigint as used_elsewhere, coalesce(sum(void), 0)::bigint as void
      from event_count where hour_ms = -1 and ${ofEvents}
    ) as code cross join (
      select coalesce(sum(greatest(places - taken, 0)), 0) as places from event_place where ${ofEvents}
    ) as place`.execute(db)
  return rows[0]!
}
