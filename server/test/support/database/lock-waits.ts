import { sql } from 'kysely'
import type { Db } from '../../../src/db/engine.ts'
import { ON_CITUS } from '../run/prepared.ts'

const WAITING = sql`select count(*)::integer as waiting from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`
/** A statement of the coordinator that waits on another node is not shown as waiting there. */
const ON_ALL_NODES = sql`select sum(result::integer)::integer as waiting from run_command_on_all_nodes(
  $$select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'$$)`

/** How many statements on this database of PostgreSQL wait for a lock. */
export async function countWaiting(db: Db): Promise<number> {
  // Within a transaction the view shows what it showed first
  await sql`select pg_stat_clear_snapshot()`.execute(db)
  const { rows } = await sql<{ waiting: number }>`${ON_CITUS ? ON_ALL_NODES : WAITING}`.execute(db)
  return rows[0]!.waiting
}
