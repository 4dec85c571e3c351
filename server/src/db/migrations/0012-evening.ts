import { type Kysely, sql } from 'kysely'

/**
 * What an organiser needs during an event.
 *
 * - `attendance_blocked`: players whose claims an organiser refuses. Processes of the version before give them tokens.
 * - `code_load`: edit codes, encrypted, of events whose codes are loaded as soon as the issuer has approved them. A row
 *   is deleted after loading, or after 14 days.
 * - `claim_by_time`: the claims of an event in the order in which they were made, for lists and for counts by minute.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Claims queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  // In the order in which a claim locks them, so that neither waits for the other in the middle.
  `lock table claim in share mode`,
  `lock table attendance_event in share row exclusive mode`,
  `create table attendance_blocked (
    event_id integer not null references attendance_event on delete cascade,
    address text not null,
    since_ms bigint not null,
    primary key (event_id, address)
  )`,
  `create table code_load (
    event_id integer primary key references attendance_event on delete cascade,
    sealed bytea not null,
    until_ms bigint not null,
    next_try_at_ms bigint not null,
    last_try_at_ms bigint
  )`,
  `create index claim_by_time on claim (event_id, created_at_ms, id)`,
  `set local lock_timeout = default`,
]
