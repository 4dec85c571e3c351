import { type Kysely, sql } from 'kysely'

/**
 * Who else may act for the owner of a parcel or an estate. The columns can be null, and null says the same as an
 * empty list: an import by the version before this one fills every column that it does not know with null.
 *
 * Such an import may be running at the same time. Its tables are not attached as partitions yet, and could not be
 * attached without the new columns, so they get the columns too.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Readers queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  // In the order in which writers touch them, so that neither waits for the other.
  `lock table parcel, estate in access exclusive mode`,
  `alter table parcel add column approvals_for_all text[], add column update_managers text[]`,
  `alter table estate add column approvals_for_all text[], add column update_managers text[]`,
  `do $$
   declare loading regclass;
   begin
     for loading in
       select pg_class.oid
       from land_world
       join pg_class on relname in ('parcel_w' || world_id, 'estate_w' || world_id)
       where relkind = 'r' and not relispartition and pg_table_is_visible(pg_class.oid)
     loop
       execute format('alter table %s add column approvals_for_all text[], add column update_managers text[]', loading);
     end loop;
   end $$`,
  `set local lock_timeout = default`,
]
