import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { SECOND_MS } from '../clock.ts'
import { CommandError } from '../errors.ts'
import type { Db } from './engine.ts'
import { isCancelled, StatementError } from './statement-error.ts'

/**
 * One database of several PostgreSQL servers, with the extension Citus: a coordinator, to which the server connects, and workers.
 * Tables whose rows grow with players are cut by event: all rows of an event lie on one worker, and so does what a claim of it does.
 */

/** Cut by `event_id`. The first one leads: the others lie where it lies. */
export const TABLES_BY_EVENT = [
  'claim_code',
  'claim',
  'token',
  'event_count',
  'event_place',
  'event_hold',
  'seen_request',
  'code_load',
  'attendance_grant',
  'grant_secret',
  'attendance_gift',
  'attendance_blocked',
  'attendance_rehearsal',
  'attendance_refusal',
  'issuer_failure',
  'edit_code_guess',
] as const

/**
 * On every node, because rows by event refer to them or are joined with them. A change of them needs all nodes: none is made by a
 * claim. All other tables stay on the coordinator.
 */
export const TABLES_ON_EVERY_NODE = ['attendance_event', 'made_event', 'token_key'] as const

/** Functions of statements of an event, which its node executes. */
const FUNCTIONS_OF_EVENTS = ['use_requests', 'add_claims', 'add_tokens', 'add_counts']

/** SQLSTATEs of a statement that waited too long for a lock, and of one that would have waited for ever. */
const LOCK_STATES: readonly unknown[] = ['55P03', '40P01']
const LOCK_TRIES = 60
const LOCK_WAIT_MS = SECOND_MS / 2
const LOCK_PAUSE_MS = SECOND_MS

/** How a table is stored. */
export type Storage = 'by event' | 'on every node' | 'on the coordinator'

export interface StoredTable {
  readonly table: string
  readonly storage: Storage
  readonly wanted: Storage
}

/** The part of a table that lies on one node. */
export interface TablePart {
  readonly table: string
  /** Host and port. */
  readonly node: string
  readonly shards: number
  readonly bytes: number
}

/** What {@link distribute} has done: rows of all tables up to this one, and of those to move in all. */
export interface MovedRows {
  readonly table: string
  readonly rows: number
  readonly total: number
}

export type OnMoved = (moved: MovedRows) => void

/**
 * Moves the tables of a running deployment to the nodes that the coordinator knows. It is one transaction, in which nobody else
 * reads or writes these tables: when it is killed or fails, all is as it was. Tables that are moved already are left alone.
 *
 * @returns the tables that were moved
 * @throws {CommandError} where the extension or a node is missing, or other programs keep the tables locked
 */
export async function distribute(db: Db, onMoved?: OnMoved): Promise<readonly string[]> {
  await assertNodes(db)
  for (let tried = 1; ; tried++) {
    try {
      return await db.transaction().execute((tx) => moveTables(tx, onMoved))
    } catch (error) {
      if (!(error instanceof StatementError && LOCK_STATES.includes(error.code))) throw error
      if (tried === LOCK_TRIES) throw tablesInUse()
      await setTimeout(LOCK_PAUSE_MS)
    }
  }
}

/**
 * Settings of a transaction that changes tables, or reads all events before it changes a table of every node. Without the extension
 * nothing reads them. With it, changes of tables that refer to one on every node are made one after the other; and a new table with such a reference stays an ordinary one until it is moved.
 */
export async function allowTableChanges(tx: Db): Promise<void> {
  await sql`set local citus.multi_shard_modify_mode = 'sequential'`.execute(tx)
  await sql`set local citus.enable_local_reference_table_foreign_keys = off`.execute(tx)
}

/** Moves tables that a migration has made, in its transaction, where the other tables are distributed. */
export async function distributeNewTables(tx: Db): Promise<void> {
  const tables = await storedTables(tx)
  if (tables.some(({ storage }) => storage !== 'on the coordinator')) await moveTables(tx)
}

/** How the tables are stored that {@link distribute} moves. Without the extension all are on the coordinator. */
export async function storedTables(db: Db): Promise<readonly StoredTable[]> {
  const hasExtension = (await extensionVersion(db)) !== undefined
  const { rows } = hasExtension
    ? await sql<{ table: string; method: string }>`
        select logicalrelid::text as table, partmethod as method from pg_dist_partition
        where partmethod = 'h' or repmodel = 't'`.execute(db)
    : { rows: [] }
  const methods = new Map(rows.map(({ table, method }) => [table, method]))
  const storageOf = (table: string): Storage => {
    const method = methods.get(table)
    if (method === undefined) return 'on the coordinator'
    return method === 'h' ? 'by event' : 'on every node'
  }
  return [
    ...TABLES_ON_EVERY_NODE.map((table) => ({
      table,
      storage: storageOf(table),
      wanted: 'on every node' as const,
    })),
    ...TABLES_BY_EVENT.map((table) => ({ table, storage: storageOf(table), wanted: 'by event' as const })),
  ]
}

/** What of each moved table lies on which node. All nodes must be there. */
export async function tableParts(db: Db): Promise<readonly TablePart[]> {
  const { rows } = await sql<TablePart>`
    select table_name::text as table, nodename || ':' || nodeport as node, count(*)::integer as shards,
      sum(shard_size)::bigint as bytes
    from citus_shards where table_name::text = any(${[...TABLES_ON_EVERY_NODE, ...TABLES_BY_EVENT]}::text[])
    group by 1, 2 order by 1, 2`.execute(db)
  return rows
}

/** Whether each worker of the database answers, by host and port; empty where the database is one server. */
export async function workerStates(db: Db): Promise<ReadonlyMap<string, boolean>> {
  const states = new Map<string, boolean>()
  if ((await extensionVersion(db)) === undefined) return states
  const { rows: workers } = await sql<{ host: string; port: number }>`
    select nodename as host, nodeport as port from pg_dist_node
    where groupid > 0 and isactive and noderole = 'primary' order by nodename, nodeport`.execute(db)
  for (const { host, port } of workers) {
    // A statement for each: together, several that are silent would take longer than a statement may
    const answered = await sql<{ success: boolean }>`
      select success from master_run_on_worker(array[${host}]::text[], array[${port}]::integer[], array['select 1'], false)`
      .execute(db)
      .catch((error: unknown) => {
        if (!isCancelled(error)) throw error
        return undefined
      })
    states.set(`${host}:${port}`, answered?.rows[0]?.success === true)
  }
  return states
}

async function moveTables(tx: Db, onMoved?: OnMoved): Promise<readonly string[]> {
  const missing = (await storedTables(tx)).filter(({ storage, wanted }) => storage !== wanted)
  if (missing.length === 0) return []
  const tables = missing.map(({ table }) => table)
  await sql`set local lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(tx)
  await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in access exclusive mode`.execute(
    tx,
  )
  await sql`set local lock_timeout = 0`.execute(tx)
  await allowTableChanges(tx)
  const counts: { readonly table: string; readonly wanted: Storage; readonly rows: number }[] = []
  for (const { table, wanted } of missing) counts.push({ table, wanted, rows: await countRows(tx, table) })
  const total = counts.reduce((sum, { rows }) => sum + rows, 0)
  const references = await dropReferences(tx, tables)
  // Before the tables: the nodes execute them, inside of a statement that the coordinator has sent. Set here, because each call of
  // a function with a setting costs time, on one server too
  for (const name of FUNCTIONS_OF_EVENTS) {
    await sql`alter function ${sql.table(name)} set citus.allow_nested_distributed_execution = on`.execute(tx)
    await sql`select create_distributed_function(oid::regprocedure) from pg_proc where proname = ${name}`.execute(
      tx,
    )
  }
  let moved = 0
  for (const { table, wanted, rows } of counts) {
    onMoved?.({ table, rows: moved, total })
    await move(tx, table, wanted)
    const after = await countRows(tx, table)
    if (after !== rows) throw new Error(`${table} had ${rows} rows, and has ${after} after it was moved`)
    moved += rows
    onMoved?.({ table, rows: moved, total })
  }
  await sql`set local citus.enable_local_reference_table_foreign_keys = on`.execute(tx)
  for (const { of, name, definition } of references)
    await sql`alter table ${sql.table(of)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(tx)
  return tables
}

async function move(tx: Db, table: string, wanted: Storage): Promise<void> {
  const [leader] = TABLES_BY_EVENT
  if (wanted === 'on every node') await sql`select create_reference_table(${table})`.execute(tx)
  else if (table === leader) await sql`select create_distributed_table(${table}, 'event_id')`.execute(tx)
  else
    await sql`select create_distributed_table(${table}, 'event_id', colocate_with => ${leader})`.execute(tx)
  // The rows from which the shards were filled, which no statement sees any more
  await sql`select truncate_local_data_after_distributing_table(${table})`.execute(tx)
}

interface Reference {
  readonly of: string
  readonly name: string
  readonly definition: string
}

/** Drops the foreign keys of these tables, and those that refer to them. @returns them, to be added again */
async function dropReferences(tx: Db, tables: readonly string[]): Promise<readonly Reference[]> {
  const { rows } = await sql<Reference>`
    select conrelid::regclass::text as of, conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace
      and (conrelid::regclass::text = any(${tables}::text[]) or confrelid::regclass::text = any(${tables}::text[]))
    order by 1, 2`.execute(tx)
  for (const { of, name } of rows)
    await sql`alter table ${sql.table(of)} drop constraint ${sql.ref(name)}`.execute(tx)
  return rows
}

async function countRows(tx: Db, table: string): Promise<number> {
  const { rows } = await sql<{
    count: string | number
  }>`select count(*) as count from ${sql.table(table)}`.execute(tx)
  return Number(rows[0]!.count)
}

/** The version of the extension in this database; undefined where it is not created. */
async function extensionVersion(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ version: string }>`
    select extversion as version from pg_extension where extname = 'citus'`.execute(db)
  return rows[0]?.version
}

/** @throws {CommandError} with what has to be done before the tables can be moved */
async function assertNodes(db: Db): Promise<void> {
  if ((await extensionVersion(db)) === undefined) {
    const { rows } = await sql`select from pg_available_extensions where name = 'citus'`.execute(db)
    throw new CommandError(
      rows.length === 0
        ? 'This PostgreSQL server does not have the extension Citus. Install it on each node, and set shared_preload_libraries.'
        : 'The extension is not created in this database: run "create extension citus" in it on each node.',
    )
  }
  const { rows } = await sql<{ has_coordinator: boolean; has_workers: boolean }>`
    select coalesce(bool_or(groupid = 0), false) as has_coordinator, coalesce(bool_or(shouldhaveshards), false) as has_workers
    from pg_dist_node where isactive`.execute(db)
  const { has_coordinator, has_workers } = rows[0]!
  if (!has_coordinator)
    throw new CommandError(
      'The workers do not know the coordinator: run "select citus_set_coordinator_host(…)" with its address.',
    )
  if (!has_workers)
    throw new CommandError(
      'The coordinator has no workers: run "select citus_add_node(…)" with the address of each.',
    )
  const unprepared = await sql<{ node: string }>`
    select nodename || ':' || nodeport as node
    from run_command_on_all_nodes('show max_prepared_transactions') as asked join pg_dist_node using (nodeid)
    where not success or result = '0' order by 1`.execute(db)
  if (unprepared.rows.length > 0)
    throw new CommandError(
      `max_prepared_transactions must be above 0, as max_connections, on ${unprepared.rows.map(({ node }) => node).join(', ')}.`,
    )
}

function tablesInUse(): CommandError {
  return new CommandError(
    'The tables cannot be moved: another program has been using them all the time. ' +
      'Stop the servers, or wait until an export or a backup has ended, and try again. Nothing was changed.',
  )
}
