import { type ExpressionBuilder, sql } from 'kysely'
import { MINUTE_MS } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import type { Approval, Database } from '../../../../db/schema.ts'
import { inTransaction, type Tx } from '../../../../db/transaction.ts'
import { CHANGE_COLUMNS, type StoredChange } from '../../../events/change-queries.ts'
import type { Event } from '../../../events/event-queries.ts'

/** An event that waits for the operator, or with a change that does. */
export interface WaitingEvent {
  readonly event: Event
  readonly supply: number
  readonly madeAtMs: number
  readonly approval: Approval
  /** Why the event itself was approved or refused. */
  readonly reason: string | null
  /** An answer that names it counts for what was read now. */
  readonly version: number
  /** Whether its organiser may give tokens to a list of addresses. */
  readonly mayGive: boolean
  readonly change: StoredChange | undefined
}

/** So long after it was made, an event whose answer was not sent waits too: its request may still be running. */
const ANSWERED_WITHIN_MS = MINUTE_MS

/** Waits for the operator, and its maker has the edit code or may still get it. */
const isWaitingAt = (nowMs: number) => (eb: ExpressionBuilder<Database, 'made_event'>) =>
  eb.and([
    eb('made_event.approval', '=', 'waiting'),
    eb.or([
      eb('made_event.is_answered', '=', true),
      eb('made_event.made_at_ms', '>', nowMs - ANSWERED_WITHIN_MS),
    ]),
  ])

/** What the operator's list has: events that wait, and those with a change that does. */
const isListedAt = (nowMs: number) => (eb: ExpressionBuilder<Database, 'made_event'>) =>
  eb.or([
    isWaitingAt(nowMs)(eb),
    eb(
      'made_event.event_id',
      'in',
      eb.selectFrom('made_event_change').select('event_id').where('is_refused', '=', false),
    ),
  ])

/**
 * Events that wait for the operator, or with a change that does, by their numbers, so the oldest first.
 *
 * @param page `after` is the number of an event: only later ones are read
 */
export async function waitingEvents(
  db: Db,
  nowMs: number,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly WaitingEvent[]> {
  const rows = await db
    .selectFrom('made_event')
    .innerJoin('attendance_event', 'attendance_event.event_id', 'made_event.event_id')
    .selectAll('attendance_event')
    .select(['supply', 'made_at_ms', 'approval', 'reason', 'version', 'may_give'])
    .where(isListedAt(nowMs))
    .where('made_event.event_id', '>', after)
    .orderBy('made_event.event_id')
    .limit(limit)
    .execute()
  const changes = await waitingChanges(
    db,
    rows.map(({ event_id }) => event_id),
  )
  return rows.map(
    ({ supply, made_at_ms: madeAtMs, approval, reason, version, may_give: mayGive, ...event }) => ({
      ...{ event, supply, madeAtMs, approval, reason, version, mayGive },
      change: changes.get(event.event_id),
    }),
  )
}

async function waitingChanges(
  db: Db,
  eventIds: readonly number[],
): Promise<ReadonlyMap<number, StoredChange>> {
  if (eventIds.length === 0) return new Map()
  const changes = await db
    .selectFrom('made_event_change')
    .select(CHANGE_COLUMNS)
    .where('event_id', 'in', eventIds)
    .where('is_refused', '=', false)
    .execute()
  return new Map(changes.map((change) => [change.event_id, change]))
}

/** Makes an event that waits: one process at a time, so that events of the same moment count for each other. */
export function inWaitingTransaction<Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('landpass waiting events'))`.execute(tx)
    return work(tx)
  })
}

/** How many events wait for the operator, without changes of others. */
export function countWaiting(db: Db, nowMs: number): Promise<number> {
  return countEvents(db, isWaitingAt(nowMs))
}

/** How many events the list of {@link waitingEvents} has. */
export function countListed(db: Db, nowMs: number): Promise<number> {
  return countEvents(db, isListedAt(nowMs))
}

async function countEvents(db: Db, condition: ReturnType<typeof isWaitingAt>): Promise<number> {
  const { count } = await db
    .selectFrom('made_event')
    .select(({ fn }) => fn.countAll<string | number>().as('count'))
    .where(condition)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Before which times an event must have been made to be deleted: one without an answer, and one whose maker got no answer. */
export type AbandonedBefore = Readonly<Record<'waitingBeforeMs' | 'unansweredBeforeMs', number>>

const isAbandoned = ({ waitingBeforeMs, unansweredBeforeMs }: AbandonedBefore) => sql<boolean>`(
  (approval = 'waiting' and made_at_ms < ${waitingBeforeMs}) or (not is_answered and made_at_ms < ${unansweredBeforeMs}))`

/**
 * Deletes events without an answer of the operator, and events whose makers got no answer, that were made before a time. One
 * with claims stays: it is used.
 */
export async function deleteAbandoned(db: Db, before: AbandonedBefore): Promise<void> {
  const abandoned = await db.selectFrom('made_event').select('event_id').where(isAbandoned(before)).execute()
  for (const { event_id: eventId } of abandoned)
    await inTransaction(db, (tx) => deleteUnused(tx, eventId, isAbandoned(before)))
}

/**
 * Deletes an event that was made here. Waits for claims that are being made, and others find no place any more.
 *
 * @param condition of the event, which may have changed meanwhile
 * @returns false, with nothing changed, where the event has claims
 */
export async function deleteUnused(
  tx: Tx,
  eventId: number,
  condition = sql<boolean>`true`,
): Promise<boolean> {
  // In the order in which a change of the event locks both
  const made =
    await sql`select from made_event where event_id = ${eventId} and ${condition} for update`.execute(tx)
  if (made.rows.length === 0) return false
  const { rows } =
    await sql`select from event_place where event_id = ${eventId} and taken = 0 for update`.execute(tx)
  if (rows.length === 0) return false
  for (const table of ['attendance_refusal', 'issuer_failure', 'event_count', 'event_place'] as const)
    await tx.deleteFrom(table).where('event_id', '=', eventId).execute()
  for (const table of ['made_event', 'attendance_event'] as const)
    await tx.deleteFrom(table).where('event_id', '=', eventId).execute()
  return true
}
