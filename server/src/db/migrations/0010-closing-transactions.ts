import { type Kysely, sql } from 'kysely'

/**
 * `closed_tx_hash`: the transaction that closed an offer or a bid. Null means unknown, or open: an import or a step by the version
 * before this one does not fill it. A follower of that version that undoes a block also leaves it in a row that is open again:
 * stop such followers before this version follows (docs/chain.md).
 *
 * An import by the version before may be running. Its tables are not attached as partitions yet, and could not be
 * attached without the new column, so they get it too.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const TABLES = ['publication', 'bid']

const STATEMENTS = [
  // Readers queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  // In the order in which writers touch them, so that neither waits for the other.
  `lock table ${TABLES.join(', ')} in access exclusive mode`,
  ...TABLES.map((table) => `alter table ${table} add column closed_tx_hash text`),
  `do $$
   declare loading record;
   begin
     for loading in
       select pg_class.oid::regclass as name
       from land_world
       cross join (values ${TABLES.map((table) => `('${table}')`).join(', ')}) as parent (name)
       join pg_class on relname = parent.name || '_w' || world_id
       where relkind = 'r' and not relispartition and pg_table_is_visible(pg_class.oid)
     loop
       execute format('alter table %s add column closed_tx_hash text', loading.name);
     end loop;
   end $$`,
  `set local lock_timeout = default`,
]
