import { type Kysely, sql } from 'kysely'

/**
 * Edit codes of events that were made here, besides the first one of each. `name`: whose it is; null for a first code that the
 * operator issued anew, whose hash stands in `made_event`. `code_hash`: null when the code ended, or stands there. An ended
 * code keeps its row, so that its organiser sees what was.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table event_edit_code (
    id uuid primary key,
    event_id integer not null references made_event on delete cascade,
    name text,
    code_hash bytea,
    made_at_ms bigint not null,
    ended_at_ms bigint
  )`,
  `create unique index event_edit_code_named on event_edit_code (event_id, name) where ended_at_ms is null`,
]
