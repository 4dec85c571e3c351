import { type Kysely, sql } from 'kysely'

/**
 * What following the chain needs. The new columns can be null, which means unknown: an import by the version before this
 * one fills every column that it does not know with null. Bytes are text in hex, as everywhere in these tables.
 *
 * - A bid's id is not unique on the chain: two equal bids of one bidder in one block have the same.
 * - `land_right`, `trade_signature`, `trade_index`: what is logged about owners and signed trades, and not about one
 *   asset.
 * - `chain_position`, `chain_block`, `chain_undo`: how far a world follows the chain, and the rows as they were before
 *   each block that can still be undone (land/changes).
 *
 * These six tables are small, so they are not partitioned: their rows are deleted together with the row of their world,
 * by the version before too, which does not know them.
 *
 * An import by the version before may be running. Its tables are not attached as partitions yet, and could not be
 * attached without the new columns, so they get the columns too.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const ASSET_COLUMNS = `add column data_text text, add column holder text, add column tenant text,
  add column rented_until_ms bigint`
/** Constraints have a name: a table can only become a partition if it has all of its parent's, by their names. */
const COLUMNS = {
  parcel: ASSET_COLUMNS,
  estate: `${ASSET_COLUMNS}, add column fingerprint text`,
  publication: `add column log_index integer,
    add column closed_by text constraint publication_closed_by check (closed_by in ('event', 'moved', 'replaced'))`,
  bid: `add column closed_by text
    constraint bid_closed_by check (closed_by in ('event', 'void', 'replaced', 'fingerprint'))`,
  mortgage: `add column log_index integer, add column due_in_s bigint`,
}
const TABLES = Object.keys(COLUMNS)
const OF_WORLD = 'world_id integer not null references land_world on delete cascade'

const STATEMENTS = [
  // Readers queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  // In the order in which writers touch them, so that neither waits for the other.
  `lock table ${TABLES.join(', ')} in access exclusive mode`,
  ...Object.entries(COLUMNS).map(([table, columns]) => `alter table ${table} ${columns}`),
  `alter table bid drop constraint bid_world_id_id_key`,
  `do $$
   declare loading record;
   begin
     for loading in
       select pg_class.oid::regclass as name, parent.columns
       from land_world
       cross join (values ${Object.entries(COLUMNS)
         .map(([table, columns]) => `('${table}', ${quoted(columns)})`)
         .join(', ')}) as parent (name, columns)
       join pg_class on relname = parent.name || '_w' || world_id
       where relkind = 'r' and not relispartition and pg_table_is_visible(pg_class.oid)
     loop
       execute format('alter table %s %s', loading.name, loading.columns);
     end loop;
     for loading in
       select conrelid::regclass as name, conname
       from land_world
       join pg_class on relname = 'bid_w' || world_id
       join pg_constraint on conrelid = pg_class.oid and contype = 'u'
       where relkind = 'r' and not relispartition and pg_table_is_visible(pg_class.oid)
     loop
       execute format('alter table %s drop constraint %I', loading.name, loading.conname);
     end loop;
   end $$`,
  `create index bid_by_id on bid (id)`,
  `create index parcel_by_estate on parcel (estate_id) where estate_id is not null`,
  `create table land_right (
    ${OF_WORLD},
    kind text not null check (kind in ('approval', 'manager')),
    registry text not null check (registry in ('parcel', 'estate')),
    owner text not null,
    operator text not null,
    primary key (world_id, registry, owner, kind, operator)
  )`,
  `create table trade_signature (
    ${OF_WORLD},
    marketplace text not null,
    signer text not null,
    signature_key text not null,
    is_cancelled boolean not null,
    uses integer not null,
    primary key (world_id, marketplace, signer, signature_key)
  )`,
  `create table trade_index (
    ${OF_WORLD},
    marketplace text not null,
    signer text not null,
    value text not null,
    primary key (world_id, marketplace, signer)
  )`,
  `create table chain_position (
    world_id integer primary key references land_world on delete cascade,
    chain_id bigint not null,
    contracts_hash text not null,
    rules_version integer not null,
    block_number bigint not null,
    block_hash text not null,
    block_time_s bigint not null,
    finalized_number bigint not null,
    finalized_hash text not null,
    holder text,
    lease_until_ms bigint not null,
    epoch bigint not null,
    status text
  )`,
  `create table chain_block (
    ${OF_WORLD},
    number bigint not null,
    hash text not null,
    parent_hash text not null,
    logs_digest text,
    time_s bigint not null,
    primary key (world_id, number)
  )`,
  `create table chain_undo (
    ${OF_WORLD},
    block_number bigint not null,
    table_name text not null,
    key jsonb not null,
    before jsonb,
    primary key (world_id, block_number, table_name, key)
  )`,
  `set local lock_timeout = default`,
]

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
