import fs from 'node:fs'
import { readConfig } from '../../src/config/config.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openEngine } from '../../src/db/open-engine.ts'
import { writeDemoSnapshot } from '../../src/demo/write-snapshot.ts'
import { importSnapshot } from '../../src/land/snapshot/import.ts'
import { emptyDir, TEST_SETTINGS } from './engines.ts'
import { testClock } from './land-server.ts'
import { madeOnce } from './made-once.ts'

const FULL_RADIUS = 150

/** The folder of a demo snapshot, made once for the whole run. It covers -radius,-radius to radius,radius. */
export function demoSnapshot(seed: number, radius: number): Promise<string> {
  return madeOnce(`snapshot-${seed}-${radius}`, async (folder) => {
    await writeDemoSnapshot(seed, folder, undefined, { radius })
  })
}

/**
 * A data folder of one's own with the whole demo world of seed 1, at revision 1. It is imported once for the whole
 * run, which takes ten seconds, and copied for each caller.
 */
export async function fullDemoDataDir(): Promise<string> {
  const made = await madeOnce('full-demo', importFullDemo)
  const dataDir = emptyDir()
  fs.cpSync(made, dataDir, { recursive: true })
  return dataDir
}

async function importFullDemo(folder: string): Promise<void> {
  const snapshot = await demoSnapshot(1, FULL_RADIUS)
  const engine = await openEngine({ ...TEST_SETTINGS, statementTimeoutMs: 0, dataDir: folder })
  try {
    await migrate(engine)
    const report = await importSnapshot(engine.db, snapshot, {
      world: readConfig({}).world,
      clock: testClock(),
      dryRun: false,
    })
    if (!report.ok) throw new Error(`the demo world is refused: ${JSON.stringify(report.errors)}`)
    await engine.maintain()
  } finally {
    await engine.close()
  }
}
