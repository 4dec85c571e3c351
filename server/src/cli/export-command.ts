import type { Command } from 'commander'
import { SECOND_MS } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { type ExportReport, exportSnapshot } from '../land/snapshot/export.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { runCommand, writeResult } from './run-command.ts'

/** `landpass export <folder>` */
export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description('write the world as a snapshot, which landpass import reads')
    .argument('<folder>', 'folder to write; it must be empty or not there yet')
    .action((folder: string) => runCommand((signal) => runExport(folder, signal)))
}

async function runExport(folder: string, signal: AbortSignal): Promise<void> {
  const show = new ProgressShow()
  let report: ExportReport
  try {
    const config = readConfig(process.env)
    report = await withDatabase(config, ({ db, kind }) =>
      exportSnapshot(db, folder, {
        world: config.world,
        inOneTransaction: kind === 'postgres',
        onProgress: show.update.bind(show),
        signal,
      }),
    )
  } finally {
    show.stop()
  }
  writeResult(report, [successSentence(report)])
}

function successSentence({ counts, folder, revision, durationMs }: ExportReport): string {
  const records = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const seconds = (durationMs / SECOND_MS).toFixed(1)
  return `Wrote ${records.toLocaleString('en')} records of revision ${revision} to ${folder} in ${seconds} s.`
}
