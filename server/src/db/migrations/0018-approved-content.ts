import { type Kysely, sql } from 'kysely'

/**
 * What the operator approves is a content of an event, and later changes of it wait beside what is live.
 *
 * - `made_event.version`: raised with every change of what the operator reads, so that an answer can name what was read.
 * - `made_event.reason`, `decided_at_ms`: of the operator's last answer to the event itself.
 * - `made_event_change`: the change of an event that waits for the operator, or the last one that was refused.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `alter table made_event add column version integer not null default 1,
    add column reason text, add column decided_at_ms bigint`,
  `create table made_event_change (
    event_id integer primary key references made_event on delete cascade,
    description text,
    coordinates text,
    supply integer,
    is_refused boolean not null default false,
    reason text,
    sent_at_ms bigint not null
  )`,
  `create index made_event_change_waiting on made_event_change (event_id) where not is_refused`,
  `set local lock_timeout = default`,
]
