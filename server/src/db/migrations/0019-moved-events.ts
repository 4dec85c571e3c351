import { type Kysely, sql } from 'kysely'

/**
 * Events can be corrected, moved and cancelled.
 *
 * - `attendance_event.is_cancelled`: the organiser cancelled the event. Processes of the version before still give out its tokens.
 * - `attendance_event.time_zone`: the IANA name of the zone in which the organiser reads its times.
 * - `made_event_change`: name, link and picture can wait for the operator too.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Claims queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `alter table attendance_event add column is_cancelled boolean not null default false, add column time_zone text`,
  `alter table made_event_change add column name text, add column event_url text, add column image bytea`,
  `set local lock_timeout = default`,
]
