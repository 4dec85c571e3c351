import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { EventTable } from '../events/land-rows.ts'
import { LAND_TABLES, type LandTable } from '../records/tables.ts'
import { type Lease, partitionOf } from './worlds.ts'

/**
 * How much JSON one INSERT takes: about 130 rows. Measured on the embedded engine, which runs no other statement
 * meanwhile: see README.md.
 */
const BATCH_CHARACTERS = 60_000
/** The same where others have connections of their own. */
const LARGE_BATCH_CHARACTERS = 240_000

/** The tables of a world: those with a partition for each world, and those that all worlds share. */
export type LoadedTable = LandTable | EventTable

/**
 * Fills the tables of a new world. One statement a batch, each its own transaction, and the next batch is made
 * while the database works on the last ones.
 */
export class Loader {
  private readonly db: Db
  private readonly worldId: number
  private readonly lease: Lease
  private table: LoadedTable | undefined
  private rows: string[] = []
  private characters = 0
  /** The oldest first. */
  private running: readonly Promise<unknown>[] = []
  private readonly insertsAtOnce: number
  private readonly batchCharacters: number

  /** @param insertsAtOnce statements that run at the same time: more than one helps where each has its own connection */
  constructor(db: Db, worldId: number, lease: Lease, insertsAtOnce = 1) {
    this.db = db
    this.worldId = worldId
    this.lease = lease
    this.insertsAtOnce = insertsAtOnce
    this.batchCharacters = insertsAtOnce > 1 ? LARGE_BATCH_CHARACTERS : BATCH_CHARACTERS
  }

  /** Adds a row. @returns a promise when the batch is full: wait for it before the next row */
  add(table: LoadedTable, row: object): Promise<void> | undefined {
    const full = this.characters > this.batchCharacters || (this.table !== table && this.rows.length > 0)
    const flushed = full ? this.flush() : undefined
    const json = JSON.stringify({ world_id: this.worldId, ...row })
    this.table = table
    this.rows.push(json)
    this.characters += json.length
    return flushed
  }

  /** Writes what is left and waits for it. */
  async finish(): Promise<void> {
    await this.flush()
    await Promise.all(this.running)
  }

  /** Waits until no statement is running, whether it succeeded or failed. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.running)
  }

  private async flush(): Promise<void> {
    const { table, rows } = this
    this.rows = []
    this.characters = 0
    const isFull = this.running.length >= this.insertsAtOnce
    if (isFull) await this.running[0]
    if (!table || rows.length === 0) return
    const insert = this.insert(table, `[${rows.join(',')}]`)
    insert.catch(() => undefined) // the error is thrown where `running` is awaited
    this.running = [...this.running.slice(isFull ? 1 : 0), insert]
  }

  private async insert(table: LoadedTable, json: string): Promise<void> {
    await this.lease.renew()
    const target = sql.table(isPartitioned(table) ? partitionOf(table, this.worldId) : table)
    // One parameter whatever the number of rows and columns, and the columns are those of the table.
    // The commit does not wait for the disk, 900 times in a large import: the world is not shown before a later commit
    // does (`showWorld`), and that one writes down all that came before it. `set_config(…, true)` is for this statement.
    await sql`
      with unsynced as materialized (select set_config('synchronous_commit', 'off', true))
      insert into ${target}
      select record.* from unsynced, json_populate_recordset(null::${target}, ${json}::json) as record`.execute(
      this.db,
    )
  }
}

function isPartitioned(table: LoadedTable): table is LandTable {
  return LAND_TABLES.some((name) => name === table)
}
