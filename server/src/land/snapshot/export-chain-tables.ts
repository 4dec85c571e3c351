import type { Db } from '../../db/engine.ts'
import { inSnapshot } from '../../db/transaction.ts'
import { CHAIN_RECORDS, type ChainRows } from '../records/chain-records.ts'
import { type ExportedState, readState } from './exported-state.ts'
import type { FolderWriter, WrittenFile } from './folder-writer.ts'
import { CHAIN_SETS, CHAIN_TABLE_OF, type ChainSetName, nameOfLine } from './format.ts'

type ChainTables = { readonly [Name in ChainSetName]: readonly ChainRows[(typeof CHAIN_TABLE_OF)[Name]][] }

interface StateWithRows extends ExportedState {
  /** Undefined where the world knows nothing of a chain. */
  readonly rows: ChainTables | undefined
}

/**
 * Reads what a chain says of owners and of signed trades, all of it at the block that is returned with it. These tables change
 * without a new revision. They are small, and the embedded engine runs no other statement meanwhile.
 *
 * @param db a transaction is used as it is
 */
export function readChainTables(db: Db): Promise<StateWithRows> {
  return db.isTransaction ? readTables(db) : inSnapshot(db, readTables)
}

async function readTables(db: Db): Promise<StateWithRows> {
  const state = await readState(db)
  const { worldId } = state
  const rows: ChainTables = {
    rights: await db.selectFrom('land_right').selectAll().where('world_id', '=', worldId).execute(),
    trade_signatures: await db
      .selectFrom('trade_signature')
      .selectAll()
      .where('world_id', '=', worldId)
      .execute(),
    trade_indexes: await db.selectFrom('trade_index').selectAll().where('world_id', '=', worldId).execute(),
  }
  const isKnown = state.chain !== undefined || Object.values(rows).some(({ length }) => length > 0)
  return { ...state, rows: isKnown ? rows : undefined }
}

/** Writes a file for each of the tables, also for an empty one: it says that there is nothing. */
export async function writeChainFiles(
  writer: FolderWriter,
  rows: ChainTables,
): Promise<Record<ChainSetName, WrittenFile>> {
  const files: Partial<Record<ChainSetName, WrittenFile>> = {}
  for (const set of CHAIN_SETS) files[set] = await writeFile(writer, set, rows[set])
  return files as Record<ChainSetName, WrittenFile>
}

async function writeFile<Name extends ChainSetName>(
  writer: FolderWriter,
  set: Name,
  rows: ChainTables[Name],
): Promise<WrittenFile> {
  const record = CHAIN_RECORDS[CHAIN_TABLE_OF[set]]
  const file = writer.openFile(set)
  try {
    // The compiler does not see that the functions of a set take its rows
    const named = rows.map((row) => ({ row, name: nameOfLine[set](row as never) }))
    named.sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const { row } of named) await file.write(record.line(row as never))
    return await file.finish()
  } catch (error) {
    await file.abandon()
    throw error
  }
}
