import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'

export interface RefusalCount {
  readonly eventId: number
  readonly hourMs: number
  readonly code: string
  readonly count: number
}

/** Counts of events that were deleted meanwhile are left out. */
export async function addRefusals(db: Db, counts: readonly RefusalCount[]): Promise<void> {
  // All processes write in the same order: no deadlock between two of them
  const rows = counts.toSorted(
    (a, b) => a.eventId - b.eventId || a.hourMs - b.hourMs || (a.code < b.code ? -1 : 1),
  )
  await sql`
    insert into attendance_refusal (event_id, hour_ms, code, count)
    select event_id, hour_ms, code, added.count from unnest(
      ${rows.map(({ eventId }) => eventId)}::integer[], ${rows.map(({ hourMs }) => hourMs)}::bigint[],
      ${rows.map(({ code }) => code)}::text[], ${rows.map(({ count }) => count)}::bigint[]
    ) with ordinality as added (event_id, hour_ms, code, count, place)
    where event_id in (select event_id from attendance_event) order by place
    on conflict (event_id, hour_ms, code)
    do update set count = attendance_refusal.count + excluded.count`.execute(db)
}

/** How often claims of an event were refused, by error code, the most frequent first. */
export async function refusalsByCode(db: Db, eventId: number) {
  const rows = await db
    .selectFrom('attendance_refusal')
    .select(({ fn }) => ['code', fn.sum<string>('count').as('count')])
    .where('event_id', '=', eventId)
    .groupBy('code')
    .execute()
  return rows
    .map(({ code, count }) => ({ code, count: Number(count) }))
    .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
}
