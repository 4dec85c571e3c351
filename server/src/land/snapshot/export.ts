import { type Coord, isInWorld, type World } from '@landpass/client/grid'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import { CommandError } from '../../errors.ts'
import { type LandTable, type LandTables, RECORDS } from '../records/tables.ts'
import { readChainTables, writeChainFiles } from './export-chain-tables.ts'
import { readState } from './exported-state.ts'
import { FolderWriter, type WrittenFile } from './folder-writer.ts'
import { type Counts, DATA_SETS, type DataSetName, TABLE_OF } from './format.ts'
import type { OnProgress } from './import.ts'
import { pagesOf } from './pages.ts'

/** How often an export starts again because the world changed under it. */
const MAX_ATTEMPTS = 5

export interface ExportOptions {
  /** The setting `WORLD`: only a chain has parcels outside of it. Where it is left out, parcels do not tell that. */
  readonly world?: World | undefined
  /**
   * Read everything in one transaction: for PostgreSQL. On the embedded engine that would block all other statements:
   * there, the export starts again when the world has changed meanwhile.
   */
  readonly inOneTransaction?: boolean
  readonly onProgress?: OnProgress | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ExportReport {
  readonly ok: true
  readonly folder: string
  readonly counts: Readonly<Counts>
  readonly worldId: number
  readonly revision: number
  readonly durationMs: number
}

/**
 * Writes the world that is shown as a snapshot, consistent as of one revision.
 *
 * The files depend on the records alone: the same world gives the same bytes, wherever and whenever.
 *
 * @throws {CommandError} when there is no world, the folder is not empty, or the world changes faster than it can
 * be read.
 */
export async function exportSnapshot(
  db: Db,
  folder: string,
  options: ExportOptions = {},
): Promise<ExportReport> {
  const startedAtMs = performance.now()
  const written = await writeWorld(db, folder, options)
  return { ok: true, folder, ...written, durationMs: Math.round(performance.now() - startedAtMs) }
}

type Written = Pick<ExportReport, 'counts' | 'worldId' | 'revision'>

async function writeWorld(db: Db, folder: string, options: ExportOptions): Promise<Written> {
  if (options.inOneTransaction && !db.isTransaction) {
    const transaction = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
    return transaction.execute(async (tx) => (await attempt(tx, folder, options))!)
  }
  for (let number = 0; number < MAX_ATTEMPTS; number++) {
    const written = await attempt(db, folder, options)
    if (written) return written
  }
  throw new CommandError(
    `The world changed ${MAX_ATTEMPTS} times while it was read. Try again at a quieter time.`,
  )
}

/** @returns undefined when the world changed meanwhile; then nothing is left of the attempt */
async function attempt(db: Db, folder: string, options: ExportOptions): Promise<Written | undefined> {
  const state = await readState(db)
  const writer = await FolderWriter.create(folder)
  try {
    const exporter = new Exporter(db, state.worldId, writer, options)
    const landFiles = await exporter.writeFiles()
    // Blocks move the position on without a revision where they change no table that answers show: those tables are the same at each of
    // these blocks. The others are read together with the block.
    const { chain, worldId, revision, rows } = await readChainTables(db)
    if (revision !== state.revision) return undefined
    const files = { ...landFiles, ...(rows && (await writeChainFiles(writer, rows))) }
    const { latestMs: referenceTimeMs, isFromChain } = exporter
    await writer.finish(files, { referenceTimeMs, chain, isFromChain })
    const counts = Object.fromEntries(Object.entries(files).map(([set, { records }]) => [set, records]))
    return { counts: counts as Counts, worldId, revision }
  } finally {
    await writer.discard() // nothing is there after the rename
  }
}

class Exporter {
  /** The latest date of any record, deadlines aside: the `reference_time` of the snapshot. */
  latestMs = 0
  /** Whether a record says something that only a chain does. */
  isFromChain = false
  private readonly db: Db
  private readonly worldId: number
  private readonly writer: FolderWriter
  private readonly options: ExportOptions
  private readonly districtParcels = new ParcelLists()
  private readonly estateParcels = new ParcelLists()
  private readonly loans = new Set<number>()
  private done = 0
  private total = 0

  constructor(db: Db, worldId: number, writer: FolderWriter, options: ExportOptions) {
    this.db = db
    this.worldId = worldId
    this.writer = writer
    this.options = options
  }

  async writeFiles(): Promise<Record<DataSetName, WrittenFile>> {
    this.total = await this.countRows()
    const files: Partial<Record<DataSetName, WrittenFile>> = {}
    // Parcels first: districts and estates list their parcels, and their rows do not.
    for (const set of ['parcels', ...DATA_SETS.filter((set) => set !== 'parcels')] as const) {
      files[set] = await this.writeFile(set, TABLE_OF[set])
    }
    return files as Record<DataSetName, WrittenFile>
  }

  private async countRows(): Promise<number> {
    let total = 0
    for (const set of DATA_SETS) {
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from ${sql.table(TABLE_OF[set])} where world_id = ${this.worldId}`.execute(
        this.db,
      )
      total += rows[0]!.count
    }
    return total
  }

  private async writeFile<Table extends LandTable>(set: DataSetName, table: Table): Promise<WrittenFile> {
    const file = this.writer.openFile(set)
    try {
      for await (const page of pagesOf(this.db, table, this.worldId)) {
        this.options.signal?.throwIfAborted()
        for (const row of page) await file.write(this.lineOf(table, row))
        this.done += page.length
        this.options.onProgress?.({ phase: 'export', done: this.done, total: this.total })
      }
      return await file.finish()
    } catch (error) {
      await file.abandon()
      throw error
    }
  }

  private lineOf<Table extends LandTable>(table: Table, row: LandTables[Table]): string {
    this.noteDates(row)
    this.isFromChain ||=
      CHAIN_COLUMNS[table]?.some((column) => (row as Record<string, unknown>)[column] !== null) ?? false
    if (isRowOf('mortgage', table, row)) this.noteMortgage(row)
    if (isRowOf('parcel', table, row)) this.noteParcel(row)
    const parcels = isRowOf('district', table, row)
      ? this.districtParcels.of(row.id)
      : isRowOf('estate', table, row)
        ? this.estateParcels.of(row.id)
        : []
    return RECORDS[table].line(row, parcels)
  }

  /** Mortgages that an import takes from a chain alone: see the rules in rules.ts, and links.ts. */
  private noteMortgage(row: LandTables['mortgage']): void {
    const { amount, lender, loan_id, started_at_ms, status, block_time_updated_at_ms } = row
    const isWithoutLender = started_at_ms !== null && lender === null
    const isPaidPending = status === 'pending' && block_time_updated_at_ms !== null
    this.isFromChain ||= Number(amount) === 0 || isWithoutLender || isPaidPending || this.loans.has(loan_id)
    this.loans.add(loan_id)
  }

  private noteParcel(row: LandTables['parcel']): void {
    const { world } = this.options
    this.isFromChain ||= world !== undefined && !isInWorld(world, row)
    if (row.district_id !== null) this.districtParcels.add(row.district_id, row.district_position ?? 0, row)
    if (row.estate_id !== null) this.estateParcels.add(row.estate_id, row.estate_position ?? 0, row)
  }

  private noteDates(row: object): void {
    for (const column of DATE_COLUMNS) {
      const value = (row as Record<string, unknown>)[column]
      if (typeof value === 'number' && value > this.latestMs) this.latestMs = value
    }
  }
}

/**
 * Columns that only rules of the chain fill. They tell where the records of a world come from that was imported and so has no
 * block. Bids of other sources may have a log index.
 */
const CHAIN_COLUMNS: Readonly<Partial<Record<LandTable, readonly string[]>>> = {
  parcel: ['data_text', 'holder', 'tenant'],
  estate: ['fingerprint', 'registry_order', 'data_text', 'holder', 'tenant'],
  publication: ['log_index'],
  mortgage: ['log_index'],
}

const DATE_COLUMNS = [
  'created_at_ms',
  'updated_at_ms',
  'timestamp_ms',
  'last_transferred_at_ms',
  'block_time_created_at_ms',
  'block_time_updated_at_ms',
  'started_at_ms',
]

function isRowOf<Table extends LandTable>(
  wanted: Table,
  table: LandTable,
  _row: LandTables[LandTable],
): _row is LandTables[Table] {
  return table === wanted
}

/** The parcels of each district or estate, three numbers each. */
class ParcelLists {
  private readonly lists = new Map<string, number[]>()

  add(id: string, position: number, { x, y }: Coord): void {
    const list = this.lists.get(id)
    if (list) list.push(position, x, y)
    else this.lists.set(id, [position, x, y])
  }

  /** In the order of their positions. */
  of(id: string): Coord[] {
    const list = this.lists.get(id) ?? []
    const parcels: { position: number; x: number; y: number }[] = []
    for (let at = 0; at < list.length; at += 3)
      parcels.push({ position: list[at]!, x: list[at + 1]!, y: list[at + 2]! })
    return parcels.sort((a, b) => a.position - b.position)
  }
}
