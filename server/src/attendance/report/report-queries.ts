import { sql } from 'kysely'
import { HOUR_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { ClaimState } from '../../db/schema.ts'

/** How many hours a report shows: the last week. */
export const REPORTED_HOURS = 7 * 24

export interface HourOfClaims {
  readonly hourMs: number
  readonly state: ClaimState
  readonly count: number
}

/** Claims by state and by the hour in which they were made, the newest hour first. */
export async function claimsByHour(db: Db, eventId: number, nowMs: number): Promise<readonly HourOfClaims[]> {
  const sinceMs = (Math.floor(nowMs / HOUR_MS) - REPORTED_HOURS + 1) * HOUR_MS
  const { rows } = await sql<{ hour_ms: number; state: ClaimState; count: number }>`
    select (created_at_ms / ${HOUR_MS}::bigint) * ${HOUR_MS}::bigint as hour_ms, state, count(*) as count
    from claim where event_id = ${eventId} and created_at_ms >= ${sinceMs}
    group by 1, 2 order by 1 desc, 2`.execute(db)
  return rows.map((row) => ({ hourMs: Number(row.hour_ms), state: row.state, count: Number(row.count) }))
}

export async function claimsByState(db: Db, eventId: number) {
  const rows = await db
    .selectFrom('claim')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .where('event_id', '=', eventId)
    .groupBy('state')
    .execute()
  return rows.map(({ state, count }) => ({ state, count: Number(count) }))
}
