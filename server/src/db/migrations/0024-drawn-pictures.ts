import { type Kysely, sql } from 'kysely'

/**
 * `draws_image` of an event that was made here, and of a change of it: its picture was drawn from the map of its places, so it
 * is drawn again when the places change. Pictures from before are taken for the organiser's own.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Claims queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `alter table made_event add column draws_image boolean not null default false`,
  `alter table made_event_change add column draws_image boolean not null default false`,
  `set local lock_timeout = default`,
]
