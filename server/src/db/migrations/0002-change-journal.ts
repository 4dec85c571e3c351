import { type Kysely, sql } from 'kysely'

/**
 * What each revision changed (land/changes/change-journal.ts). Not partitioned by world: it names a few thousand
 * subjects of the world that is shown, and is emptied when another world takes its place.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table land_change (
    revision bigint not null,
    world_id integer not null,
    subject text not null check (subject in ('revision', 'anything', 'parcel', 'estate', 'publication')),
    key text not null,
    primary key (revision, subject, key)
  )`,
  `insert into land_change
   select revision, world_id, 'anything', changed_at_ms::text from land_state where world_id is not null`,
]
