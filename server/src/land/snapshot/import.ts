import type { World } from '@landpass/client/grid'
import type { Db } from '../../db/engine.ts'
import { MAINNET_REGISTRIES, type Registries } from '../records/contracts.ts'
import { parseExactJson } from '../records/exact-json.ts'
import { type CheckedSnapshot, checkFolder } from './check.ts'
import { fillRights } from './fill-rights.ts'
import {
  ALL_SETS,
  CHAIN_TABLE_OF,
  type Counts,
  isChainSet,
  RECORD_OF,
  type RecordOf,
  type SetName,
  TABLE_OF,
} from './format.ts'
import type { LoadedTable, Loader } from './loader.ts'
import { makeWorld, type NewWorldOptions } from './new-world.ts'
import { coverageWarnings, ErrorLog, type ImportReport, outsideWarnings } from './report.ts'
import type { SnapshotFile } from './snapshot-file.ts'
import { assertNoWorld, dropRetiredWorlds, RETIRED_GRACE_MS } from './worlds.ts'

/** How far a command has come: `done` of `total` records of this phase. */
export interface Progress {
  readonly phase: 'check' | 'load' | 'attach' | 'show' | 'tidy' | 'export'
  readonly done: number
  readonly total: number
}

export type OnProgress = (progress: Progress) => void

export interface CheckSnapshotOptions {
  readonly world: World
  /** Contracts of the network that the snapshot is of; mainnet by default. */
  readonly registries?: Registries | undefined
  readonly onProgress?: OnProgress | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ImportOptions extends CheckSnapshotOptions, NewWorldOptions {
  /** Check only. */
  readonly dryRun: boolean
  /** Whether the world will be followed. Then the rights of owners are read from their land, where no file has them. */
  readonly forFollowing?: boolean | undefined
}

/** Reads and checks all of a snapshot, and changes nothing. */
export async function checkSnapshot(folder: string, options: CheckSnapshotOptions): Promise<ImportReport> {
  const startedAtMs = performance.now()
  const log = new ErrorLog()
  const checked = await check(folder, options, log)
  return report({ log, checked, startedAtMs, dryRun: true })
}

/**
 * Replaces the world by a snapshot, in one step and while others read: they see the old world or the new one.
 *
 * The folder is read twice. The first time everything is checked, without touching the database; the second time it
 * is loaded, and must still have the same SHA-256. Reading twice costs two seconds of the import of the real city, and in return
 * a bad snapshot is refused within seconds instead of after half a minute.
 *
 * @returns a report; `ok` is false when the snapshot is bad, and then nothing has changed
 * @throws {CommandError} while another import runs, or when there is a world already and `onlyIfEmpty` is set;
 * `signal.reason` when stopped; errors of the database.
 * In all these cases nothing has changed either.
 */
export async function importSnapshot(db: Db, folder: string, options: ImportOptions): Promise<ImportReport> {
  if (options.dryRun) return checkSnapshot(folder, options)
  const startedAtMs = performance.now()
  const log = new ErrorLog()
  if (options.onlyIfEmpty) await assertNoWorld(db)
  const checked = await check(folder, options, log)
  if (log.count > 0) return report({ log, checked, startedAtMs, dryRun: false })
  const { onProgress, forFollowing = false } = options
  const total = totalOf(checked.counts)
  const whenShown: ImportOptions['whenShown'] = async (tx, worldId, shownBefore) => {
    await options.whenShown?.(tx, worldId, shownBefore)
    if (forFollowing && !checked.files.has('rights')) await fillRights(tx, worldId)
  }
  const shown = await makeWorld(
    db,
    { ...options, whenShown },
    {
      fill: (loader) => load(loader, checked, options, log),
      onStep: (phase) => onProgress?.({ phase, done: total, total }),
    },
  )
  if (shown) await dropRetiredWorlds(db, RETIRED_GRACE_MS, options.clock.nowMs())
  return report({ log, checked, startedAtMs, dryRun: false, ...shown })
}

function check(folder: string, options: CheckSnapshotOptions, log: ErrorLog): Promise<CheckedSnapshot> {
  const { world, registries = MAINNET_REGISTRIES, signal, onProgress } = options
  const onRecords = (done: number, total: number) => onProgress?.({ phase: 'check', done, total })
  return checkFolder(folder, { world, registries, signal, log, onRecords })
}

/** Loads all files. @returns false where they are no longer those that were checked */
async function load(
  loader: Loader,
  checked: CheckedSnapshot,
  { onProgress, signal }: ImportOptions,
  log: ErrorLog,
): Promise<boolean> {
  const total = totalOf(checked.counts)
  let done = 0
  for (const set of ALL_SETS) {
    const file = checked.files.get(set)
    if (!file) continue
    const count = (read: number) => onProgress?.({ phase: 'load', done: done + read, total })
    await loadFile(loader, set, { file, links: checked.links }, { count, signal, log })
    if (log.count > 0) return false
    done += checked.counts[set] ?? 0
  }
  return true
}

interface LoadFileOptions {
  readonly count: (read: number) => void
  readonly signal: AbortSignal | undefined
  readonly log: ErrorLog
}

async function loadFile<Name extends SetName>(
  loader: Loader,
  set: Name,
  { file, links }: Pick<CheckedSnapshot, 'links'> & { readonly file: SnapshotFile },
  { count, signal, log }: LoadFileOptions,
): Promise<void> {
  const checkedSha256 = shaOf(file)
  const table = tableOf(set)
  let index = 0
  for await (const lines of file.lines(signal)) {
    for (const { text = '' } of lines) {
      const record = parseExactJson(text) as RecordOf[Name]
      const full = loader.add(table, RECORD_OF[set].toRow(record, index++, links))
      if (full) await full
    }
    count(index)
  }
  if (shaOf(file) !== checkedSha256)
    log.add(
      file.name,
      null,
      'sha256',
      shaOf(file),
      'was changed by someone between its check and its loading',
    )
}

function tableOf(set: SetName): LoadedTable {
  return isChainSet(set) ? CHAIN_TABLE_OF[set] : TABLE_OF[set]
}

function shaOf(file: SnapshotFile): string | undefined {
  return file.digests?.file.sha256
}

function totalOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

interface ReportParts {
  readonly log: ErrorLog
  readonly checked: CheckedSnapshot
  readonly startedAtMs: number
  readonly dryRun: boolean
  readonly worldId?: number
  readonly revision?: number
}

function report({ log, checked, startedAtMs, dryRun, worldId, revision }: ReportParts): ImportReport {
  const { counts, links } = checked
  const ok = log.count === 0
  return {
    ok,
    dryRun,
    counts,
    errors: log.errors,
    errorCount: log.count,
    errorsByFile: log.byFile,
    worldParcels: links.worldParcels,
    warnings: ok
      ? [
          ...coverageWarnings(counts.parcels - links.outsideParcels, links.worldParcels),
          ...outsideWarnings(links.outsideParcels),
        ]
      : [],
    worldId: worldId ?? null,
    revision: revision ?? null,
    durationMs: Math.round(performance.now() - startedAtMs),
  }
}
