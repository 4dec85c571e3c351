import { type Kysely, sql } from 'kysely'

/**
 * `made_event.is_answered`: whether the maker of an event got its edit code, which is stored nowhere: false until the answer
 * was sent. True for events of the version before, which does not write it.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  'alter table made_event add column is_answered boolean not null default true',
  `create index made_event_unanswered on made_event (made_at_ms) where not is_answered`,
  `set local lock_timeout = default`,
]
