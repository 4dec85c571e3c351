import { type ExpressionBuilder, sql } from 'kysely'
import { MINUTE_MS } from '../../../clock.ts'
import type { Db } from '../../../db/engine.ts'
import type { Database } from '../../../db/schema.ts'
import { inTransaction, type Tx } from '../../../db/transaction.ts'
import type { Event } from '../../events/event-queries.ts'

/** An event that waits for the operator. */
export interface WaitingEvent {
  readonly event: Event
  readonly supply: number
  readonly madeAtMs: number
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

/**
 * Events that wait for the operator, by their numbers, so the oldest first.
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
    .select(['made_event.supply', 'made_event.made_at_ms'])
    .where(isWaitingAt(nowMs))
    .where('made_event.event_id', '>', after)
    .orderBy('made_event.event_id')
    .limit(limit)
    .execute()
  return rows.map(({ supply, made_at_ms: madeAtMs, ...event }) => ({ event, supply, madeAtMs }))
}

/** Makes an event that waits: one process at a time, so that events of the same moment count for each other. */
export function inWaitingTransaction<Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('landpass waiting events'))`.execute(tx)
    return work(tx)
  })
}

/** How many events wait for the operator. */
export async function countWaiting(db: Db, nowMs: number): Promise<number> {
  const { count } = await db
    .selectFrom('made_event')
    .select(({ fn }) => fn.countAll<string | number>().as('count'))
    .where(isWaitingAt(nowMs))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Deletes events without an answer of the operator, and events whose makers got no answer, that were made before a time. One
 * with claims or tokens stays: it is used.
 */
export async function deleteAbandoned(
  db: Db,
  { waitingBeforeMs, unansweredBeforeMs }: Record<'waitingBeforeMs' | 'unansweredBeforeMs', number>,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<{ event_id: number }>`
      delete from made_event where (approval = 'waiting' or not is_answered) and event_id in (
        select event_id from made_event as old
        where ((approval = 'waiting' and made_at_ms < ${waitingBeforeMs})
            or (not is_answered and made_at_ms < ${unansweredBeforeMs}))
          and not exists (select from token where token.event_id = old.event_id)
          and not exists (select from claim where claim.event_id = old.event_id)
      )
      returning event_id`.execute(tx)
    if (rows.length === 0) return
    const ids = rows.map(({ event_id }) => event_id)
    for (const table of ['attendance_refusal', 'issuer_failure', 'event_hold', 'claim_code'] as const)
      await tx.deleteFrom(table).where('event_id', 'in', ids).execute()
    await tx.deleteFrom('attendance_event').where('event_id', 'in', ids).execute()
  })
}
