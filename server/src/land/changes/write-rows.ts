import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../db/schema.ts'
import type { Tx } from '../../db/transaction.ts'
import { type EventTable, KEY_COLUMNS } from '../events/land-rows.ts'
import { EVENT_COLUMNS, EVENT_TABLES, keyOf, type RowChange } from './event-tables.ts'
import type { BlockImage } from './table-rows.ts'

/** How many rows one statement writes, as far as they are counted: the embedded engine runs no other one meanwhile. */
const ROWS_AT_ONCE = 500

/** A part of a statement that writes. */
export interface Write {
  readonly sql: RawBuilder<unknown>
  /** How many rows it writes; 1 where it deletes all rows before some block or revision, whose number is not known. */
  readonly rows: number
}

/**
 * Runs parts in as few statements as {@link ROWS_AT_ONCE} allows. No part may depend on what another one writes: those of
 * one statement see the tables as they were before it.
 *
 * @param alongside evaluated with the last statement, for its effect; not at all where there are no writes
 */
export async function runWrites(
  tx: Tx,
  writes: readonly Write[],
  alongside: RawBuilder<unknown> = sql`1`,
): Promise<void> {
  const statements = grouped(writes)
  for (const [at, parts] of statements.entries()) {
    const written = parts.map((part, number) => sql`${sql.ref(`write_${number}`)} as (${part.sql})`)
    const selected = at === statements.length - 1 ? alongside : sql`1`
    await sql`with ${sql.join(written)} select ${selected}`.execute(tx)
  }
}

function grouped(writes: readonly Write[]): readonly (readonly Write[])[] {
  const groups: Write[][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const write of writes) {
    rows += write.rows
    if (rows > ROWS_AT_ONCE) {
      groups.push([])
      rows = write.rows
    }
    groups.at(-1)!.push(write)
  }
  return groups
}

/** Removes the rows that are gone: before other rows take over what is unique in them. */
export async function deleteGone(tx: Tx, worldId: number, changes: readonly RowChange[]): Promise<void> {
  const writes = EVENT_TABLES.flatMap((table) => {
    const gone = changes.filter((change) => change.table === table && change.now === undefined)
    const keys = gone.map(({ before }) => keyOf(table, before!))
    return [...batches(keys)].map((batch) => deleteOf(table, worldId, batch))
  })
  await runWrites(tx, writes)
}

/** Writes the rows that are there. */
export function rowWrites(worldId: number, changes: readonly RowChange[]): Write[] {
  return EVENT_TABLES.flatMap((table) => {
    const rows = changes.flatMap((change) => (change.table === table ? (change.now ?? []) : []))
    return [...batches(rows)].map((batch) => upsertOf(table, worldId, batch))
  })
}

function deleteOf(table: EventTable, worldId: number, keys: readonly object[]): Write {
  const columns = sql.join(KEY_COLUMNS[table].map((column) => sql.ref(column)))
  return {
    rows: keys.length,
    sql: sql`
      delete from ${sql.table(table)} where world_id = ${worldId} and (${columns}) in (select ${columns}
        from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(keys)}::json))`,
  }
}

function upsertOf(table: EventTable, worldId: number, rows: readonly object[]): Write {
  const insert = insertOf(
    table,
    rows.map((row) => ({ ...row, world_id: worldId })),
  )
  return { ...insert, sql: sql`${insert.sql} on conflict ${ON_CONFLICT[table]}` }
}

/**
 * The parts of statements that insert rows.
 *
 * @param rows a column that is left out becomes null: its default does not count
 */
export function insertWrites(table: keyof Database, rows: readonly object[]): Write[] {
  return [...batches(rows)].map((batch) => insertOf(table, batch))
}

/** With one parameter however many rows there are. */
function insertOf(table: keyof Database, rows: readonly object[]): Write {
  return {
    rows: rows.length,
    sql: sql`insert into ${sql.table(table)}
      select * from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::json)`,
  }
}

/** What is done with a row that is there already. */
const ON_CONFLICT = Object.fromEntries(
  EVENT_TABLES.map((table) => [table, sql.raw(onConflict(table))]),
) as Readonly<Record<EventTable, RawBuilder<unknown>>>

function onConflict(table: EventTable): string {
  const keys: readonly string[] = KEY_COLUMNS[table]
  const values = EVENT_COLUMNS[table].filter((column) => !keys.includes(column))
  const setters = values.map((column) => `"${column}" = excluded."${column}"`).join(', ')
  return `(${['world_id', ...keys].map((column) => `"${column}"`).join(', ')}) do ${values.length === 0 ? 'nothing' : `update set ${setters}`}`
}

/** Keeps what undoing needs. */
export function imageWrites(worldId: number, images: readonly BlockImage[]): Write[] {
  const rows = images.map(({ blockNumber, table, key, before }) => ({
    world_id: worldId,
    block_number: blockNumber,
    table_name: table,
    key,
    before,
  }))
  return insertWrites('chain_undo', rows)
}

function* batches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) yield rows.slice(from, from + ROWS_AT_ONCE)
}
