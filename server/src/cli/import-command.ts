import { existsSync, statSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { readNetwork } from '../chain/networks/read-network.ts'
import { registriesOf } from '../chain/networks/registries-of.ts'
import { SECOND_MS, SYSTEM_CLOCK } from '../clock.ts'
import { type Config, readConfig } from '../config/config.ts'
import { CommandError } from '../errors.ts'
import { checkSnapshot, type ImportOptions, importSnapshot } from '../land/snapshot/import.ts'
import type { ImportReport, SnapshotError } from '../land/snapshot/report.ts'
import { LEASE_MS } from '../land/snapshot/worlds.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { EXIT_FAILED, runCommand, writeResult } from './run-command.ts'

interface ImportFlags {
  readonly dryRun: boolean
  readonly ifEmpty: boolean
}

/** `landpass import <folder> [--dry-run | --if-empty]` */
export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description('replace the world by a snapshot, in one step and while the server answers')
    .argument('<folder>', 'folder with manifest.json and the .ndjson or .ndjson.gz files')
    .option('--dry-run', 'only check the snapshot; needs no database', false)
    .addOption(
      new Option('--if-empty', 'refuse to replace a world that the database holds')
        .default(false)
        .conflicts('dryRun'),
    )
    .action((folder: string, flags: ImportFlags) => runCommand((signal) => runImport(folder, flags, signal)))
}

async function runImport(
  folder: string,
  { dryRun, ifEmpty }: ImportFlags,
  signal: AbortSignal,
): Promise<void> {
  const config = readConfig(process.env)
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new CommandError(`There is no folder ${folder}.`)
  const show = new ProgressShow()
  const options = {
    world: config.world,
    registries: registriesOf(await readNetwork(config.chain.network)),
    clock: SYSTEM_CLOCK,
    dryRun,
    onlyIfEmpty: ifEmpty,
    signal,
    patienceMs: LEASE_MS + SECOND_MS,
    onProgress: show.update.bind(show),
  }
  let report: ImportReport
  try {
    report = dryRun ? await checkSnapshot(folder, options) : await importInto(config, folder, options)
  } finally {
    show.stop()
  }
  writeResult(report, report.ok ? [successSentence(report), ...report.warnings] : errorTable(report))
  if (!report.ok) process.exitCode = EXIT_FAILED
}

function importInto(config: Config, folder: string, options: ImportOptions): Promise<ImportReport> {
  return withDatabase(
    config,
    async (engine) => {
      const report = await importSnapshot(engine.db, folder, options)
      // The import is committed by now: a failure of the maintenance after it must not fail the command.
      if (report.ok) {
        options.onProgress?.({ phase: 'tidy', done: 0, total: 1 })
        // A server that runs the embedded engine does its own maintenance, and is reading the new world at this time.
        if (!engine.isJoined) await engine.maintain().catch(() => undefined)
        options.onProgress?.({ phase: 'tidy', done: 1, total: 1 })
      }
      return report
    },
    { mayMake: true },
  )
}

function successSentence({ counts, dryRun, revision, durationMs }: ImportReport): string {
  const seconds = (durationMs / SECOND_MS).toFixed(1)
  const records = Object.entries(counts)
    .map(([set, count]) => `${count.toLocaleString('en')} ${set}`)
    .join(', ')
  return dryRun
    ? `The snapshot is good: ${records}; checked in ${seconds} s. Nothing was changed.`
    : `Imported ${records} in ${seconds} s; the world is at revision ${revision}.`
}

/**
 * The errors as columns, then how many there are.
 *
 * @example
 * // parcels.ndjson.gz:17  owner  "0xAB"  must be an address: 0x and 40 lower-case hex digits
 */
export function errorTable({ errors, errorCount, errorsByFile }: ImportReport): string[] {
  const rows = errors.map((error) => [placeOf(error), error.field ?? '', error.value ?? '', error.reason])
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length), 0))
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  const perFile = Object.entries(errorsByFile).map(([file, count]) => `${count} in ${file}`)
  const shown = errorCount > errors.length ? `, the first ${errors.length} shown` : ''
  return [
    ...lines,
    '',
    `The snapshot is bad and nothing was changed. Errors: ${errorCount}${shown} (${perFile.join(', ')}).`,
  ]
}

function placeOf({ file, line }: SnapshotError): string {
  return line === null ? file : `${file}:${line}`
}
