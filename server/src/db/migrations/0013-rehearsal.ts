import { type Kysely, sql } from 'kysely'

/**
 * Rehearsals: claims from a scene's preview, for a limited time, without a token (attendance/rehearsal/rehearsals.ts).
 *
 * - `attendance_event.rehearsal_until_ms`: until when an event rehearses. The version before does not read it, and refuses
 *   every preview.
 * - `attendance_rehearsal`: what each player of a rehearsal did. Rows are deleted a week later, or when the next rehearsal
 *   of the event begins.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `alter table attendance_event add column rehearsal_until_ms bigint`,
  `create index attendance_event_rehearsing on attendance_event (rehearsal_until_ms)
    where rehearsal_until_ms is not null`,
  `create table attendance_rehearsal (
    event_id integer not null references attendance_event on delete cascade,
    address text not null,
    claimed_at_ms bigint,
    refusals bigint not null,
    at_ms bigint not null,
    primary key (event_id, address)
  )`,
  `create index attendance_rehearsal_old on attendance_rehearsal (at_ms)`,
  `set local lock_timeout = default`,
]
