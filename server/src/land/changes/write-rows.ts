import { sql } from 'kysely'
import type { Tx } from '../../db/transaction.ts'
import { type EventTable, KEY_COLUMNS } from '../events/land-rows.ts'
import { EVENT_COLUMNS, EVENT_TABLES, keyOf, type RowChange } from './event-tables.ts'
import type { BlockImage } from './table-rows.ts'

/** How many rows one statement writes: the embedded engine runs no other one meanwhile. */
const ROWS_AT_ONCE = 500

/** Writes rows of a world: for each table one statement for those that are there, and one for those that are gone. */
export async function writeRows(tx: Tx, worldId: number, changes: readonly RowChange[]): Promise<void> {
  for (const table of EVENT_TABLES) {
    const ofTable = changes.filter((change) => change.table === table)
    const gone = ofTable.filter(({ now }) => now === undefined).map(({ before }) => keyOf(table, before!))
    const there = ofTable.flatMap(({ now }) => now ?? [])
    for (const rows of batches(gone)) await deleteRows(tx, table, worldId, rows)
    for (const rows of batches(there)) await upsertRows(tx, table, worldId, rows)
  }
}

async function deleteRows(
  tx: Tx,
  table: EventTable,
  worldId: number,
  keys: readonly object[],
): Promise<void> {
  const columns = sql.join(KEY_COLUMNS[table].map((column) => sql.ref(column)))
  await sql`
    delete from ${sql.table(table)} where world_id = ${worldId} and (${columns}) in (select ${columns}
      from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(keys)}::json))`.execute(tx)
}

async function upsertRows(
  tx: Tx,
  table: EventTable,
  worldId: number,
  rows: readonly object[],
): Promise<void> {
  const json = JSON.stringify(rows.map((row) => ({ ...row, world_id: worldId })))
  const keys: readonly string[] = KEY_COLUMNS[table]
  const values = EVENT_COLUMNS[table].filter((column) => !keys.includes(column))
  const target = sql.join(['world_id', ...keys].map((column) => sql.ref(column)))
  const setters = sql.join(values.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`))
  await sql`
    insert into ${sql.table(table)}
    select * from json_populate_recordset(null::${sql.table(table)}, ${json}::json)
    on conflict (${target}) do ${values.length === 0 ? sql`nothing` : sql`update set ${setters}`}`.execute(tx)
}

/** Keeps what undoing needs. */
export async function writeImages(tx: Tx, worldId: number, images: readonly BlockImage[]): Promise<void> {
  for (const rows of batches(images)) {
    const json = rows.map(({ blockNumber, table, key, before }) => ({
      world_id: worldId,
      block_number: blockNumber,
      table_name: table,
      key,
      before,
    }))
    await sql`insert into chain_undo
      select * from json_populate_recordset(null::chain_undo, ${JSON.stringify(json)}::json)`.execute(tx)
  }
}

function* batches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) yield rows.slice(from, from + ROWS_AT_ONCE)
}
