import { sql } from 'kysely'
import type { Db } from '../db/engine.ts'

export interface RefusalCount {
  readonly eventId: number
  readonly hourMs: number
  readonly code: string
  readonly count: number
}

export async function addRefusals(db: Db, counts: readonly RefusalCount[]): Promise<void> {
  // All processes write in the same order: no deadlock between two of them
  const rows = counts
    .map(({ eventId, hourMs, code, count }) => ({ event_id: eventId, hour_ms: hourMs, code, count }))
    .sort((a, b) => a.event_id - b.event_id || a.hour_ms - b.hour_ms || (a.code < b.code ? -1 : 1))
  await db
    .insertInto('attendance_refusal')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['event_id', 'hour_ms', 'code'])
        .doUpdateSet({ count: sql`attendance_refusal.count + excluded.count` }),
    )
    .execute()
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
