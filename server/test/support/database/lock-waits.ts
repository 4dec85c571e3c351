import { sql } from 'kysely'
import type { Db } from '../../../src/db/engine.ts'

/** How many statements on this database of PostgreSQL wait for a lock. */
export async function countWaiting(db: Db): Promise<number> {
  // Within a transaction the view shows what it showed first
  await sql`select pg_stat_clear_snapshot()`.execute(db)
  const { rows } = await sql<{ waiting: number }>`
    select count(*)::integer as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
  return rows[0]!.waiting
}
