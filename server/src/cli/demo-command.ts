import type { World } from '@landpass/client/grid'
import type { Command } from 'commander'
import { SYSTEM_CLOCK } from '../clock.ts'
import { type Config, readConfig } from '../config/config.ts'
import type { Engine } from '../db/engine.ts'
import { CommandError } from '../errors.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { Grid } from '../land/snapshot/grid.ts'
import { importSnapshot } from '../land/snapshot/import.ts'
import { coverageWarnings, type ImportReport } from '../land/snapshot/report.ts'
import { MAX_SEED, wholeNumber } from './argument-parsers.ts'
import { makeDemoFolder, removeDemoFolder } from './demo-folder.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { runCommand, writeResult } from './run-command.ts'
import { loadSimulators } from './simulators.ts'

interface DemoOptions {
  readonly seed: number
  readonly out?: string
  readonly replace?: boolean
}

/** `landpass demo [--seed N] [--out <folder> | --replace]` */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('make a world from a seed: into the database, or as a snapshot into a folder')
    .option(
      '--seed <number>',
      'the same seed makes the same world on every machine',
      wholeNumber(0, MAX_SEED),
      1,
    )
    .option('--out <folder>', 'write the snapshot there and leave the database alone')
    .option('--replace', 'replace the world that the database holds')
    .action((options: DemoOptions) => {
      const { out } = options
      const whenStopped = out === undefined ? undefined : `Stopped. The snapshot in ${out} is not complete.`
      return runCommand((signal) => makeDemo(options, signal), whenStopped)
    })
}

async function makeDemo({ seed, out, replace }: DemoOptions, signal: AbortSignal): Promise<void> {
  const config = readConfig(process.env)
  if (out !== undefined) return writeDemo({ seed, folder: out, world: config.world, signal })
  await withDatabase(
    config,
    async (engine) => {
      if ((await readLandHead(engine.db)).worldId !== null && !replace) {
        throw new CommandError(
          'The database holds a world already; --replace puts the demo world in its place.',
        )
      }
      const report = await fillWithDemo(engine, config, { seed, onlyIfEmpty: !replace, signal })
      const sentence = `The world of seed ${seed} is in the database, at revision ${report.revision}.`
      writeResult(report, [sentence, ...report.warnings])
    },
    { mayMake: true },
  )
}

async function writeDemo({ seed, folder, world, signal }: Omit<ShownWriting, 'show'>): Promise<void> {
  const show = new ProgressShow()
  const writing = writeShown({ seed, folder, world, show, signal })
  const { counts } = await writing.finally(() => show.stop())
  const worldParcels = new Grid(world).countParcels()
  const warnings = coverageWarnings(counts.parcels ?? 0, worldParcels)
  writeResult({ ok: true, folder, seed, counts, worldParcels, warnings }, [
    `The world of seed ${seed} is in ${folder}.`,
    ...warnings,
  ])
}

/** Makes the demo world as a snapshot and imports it with the same code and the same checks as real data. */
async function fillWithDemo(
  engine: Engine,
  config: Config,
  { seed, onlyIfEmpty, signal }: DemoFilling,
): Promise<ImportReport> {
  const folder = await makeDemoFolder()
  const show = new ProgressShow()
  try {
    await writeShown({ seed, folder, world: config.world, show, signal })
    const report = await importSnapshot(engine.db, folder, {
      world: config.world,
      clock: SYSTEM_CLOCK,
      dryRun: false,
      onlyIfEmpty,
      signal,
      onProgress: show.update.bind(show),
    })
    if (!report.ok) throw demoRefused(report)
    if (!engine.isJoined) await engine.maintain()
    return report
  } finally {
    show.stop()
    await removeDemoFolder(folder)
  }
}

interface DemoFilling {
  readonly seed: number
  readonly onlyIfEmpty: boolean
  readonly signal: AbortSignal
}

interface ShownWriting {
  readonly seed: number
  readonly folder: string
  readonly world: World
  readonly show: ProgressShow
  readonly signal: AbortSignal
}

/** Writes the snapshot and shows how far it is. @throws the reason of `signal` when that aborts */
async function writeShown({ seed, folder, world, show, signal }: ShownWriting) {
  const onProgress = ({ done, total }: { done: number; total: number }) => {
    signal.throwIfAborted()
    show.update({ phase: 'make', done, total })
  }
  const { writeDemoSnapshot } = await loadSimulators()
  return writeDemoSnapshot(seed, folder, onProgress, { world })
}

function demoRefused({ errors, errorCount }: ImportReport): CommandError {
  const [first] = errors
  return new CommandError(
    `The demo world breaks a rule of the snapshot format (${errorCount} errors; the first: ${first?.field} ` +
      `${first?.reason}). This is a mistake in Landpass: please report it with the setting WORLD and the seed.`,
  )
}
