import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { SYSTEM_CLOCK } from '../clock.ts'
import { type Config, readConfig } from '../config/config.ts'
import type { Engine } from '../db/engine.ts'
import { type SnapshotManifest, writeDemoSnapshot } from '../demo/write-snapshot.ts'
import { CommandError } from '../errors.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { importSnapshot } from '../land/snapshot/import.ts'
import type { ImportReport } from '../land/snapshot/report.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { runCommand, writeResult } from './run-command.ts'

const MAX_SEED = 2 ** 31 - 1

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
    .option('--seed <number>', 'the same seed makes the same world on every machine', parseSeed, 1)
    .option('--out <folder>', 'write the snapshot there and leave the database alone')
    .option('--replace', 'replace the world that the database holds')
    .action((options: DemoOptions) => runCommand((signal) => makeDemo(options, signal)))
}

function parseSeed(text: string): number {
  const seed = Number(text)
  if (/^\d{1,10}$/.test(text) && seed <= MAX_SEED) return seed
  throw new InvalidArgumentError(`must be a whole number from 0 to ${MAX_SEED}`)
}

async function makeDemo({ seed, out, replace }: DemoOptions, signal: AbortSignal): Promise<void> {
  if (out !== undefined) {
    const show = new ProgressShow()
    const { counts } = await writeShown(seed, out, { show, signal }).finally(() => show.stop())
    return writeResult({ ok: true, folder: out, seed, counts }, [`The world of seed ${seed} is in ${out}.`])
  }
  const config = readConfig(process.env)
  await withDatabase(config, async (engine) => {
    if ((await readLandHead(engine.db)).worldId !== null && !replace) {
      throw new CommandError(
        'The database holds a world already; --replace puts the demo world in its place.',
      )
    }
    const report = await fillWithDemo(engine, config, seed, signal)
    writeResult(report, [`The world of seed ${seed} is in the database, at revision ${report.revision}.`])
  })
}

/** Makes the demo world as a snapshot and imports it: by the same door, and with the same checks, as real data. */
async function fillWithDemo(
  engine: Engine,
  config: Config,
  seed: number,
  signal: AbortSignal,
): Promise<ImportReport> {
  const folder = await mkdtemp(join(tmpdir(), 'landpass-demo-'))
  const show = new ProgressShow()
  try {
    await writeShown(seed, folder, { show, signal })
    const report = await importSnapshot(engine.db, folder, {
      world: config.world,
      clock: SYSTEM_CLOCK,
      dryRun: false,
      signal,
      onProgress: show.update.bind(show),
    })
    if (!report.ok) throw demoDoesNotFit(report)
    if (!engine.isJoined) await engine.maintain()
    return report
  } finally {
    show.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function writeShown(
  seed: number,
  folder: string,
  { show, signal }: { show: ProgressShow; signal: AbortSignal },
): Promise<SnapshotManifest> {
  return writeDemoSnapshot(seed, folder, ({ done, total }) => {
    signal.throwIfAborted()
    show.update({ phase: 'make', done, total })
  })
}

function demoDoesNotFit({ errors, errorCount }: ImportReport): CommandError {
  const [first] = errors
  return new CommandError(
    `The demo world does not fit (${errorCount} errors; the first: ${first?.field} ${first?.reason}). ` +
      'It covers -150,-150 to 150,150: leave WORLD at its default, or import a world of your own.',
  )
}
