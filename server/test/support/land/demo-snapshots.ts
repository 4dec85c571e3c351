import fs from 'node:fs'
import path from 'node:path'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import { readConfig } from '../../../src/config/config.ts'
import { openEngine } from '../../../src/db/open-engine.ts'
import { importSnapshot } from '../../../src/land/snapshot/import.ts'
import { copyOfDatabase, freshDatabaseUrl, TEST_SETTINGS } from '../database/engines.ts'
import { testClock } from '../http/land-server.ts'
import { sharedFolder } from '../run/shared-folder.ts'

const FULL_RADIUS = 150

/** The folder of a demo snapshot, made once for the whole run. It covers -radius,-radius to radius,radius. */
export function demoSnapshot(seed: number, radius: number): Promise<string> {
  return sharedFolder(`snapshot-${seed}-${radius}`, async (folder) => {
    await writeDemoSnapshot(seed, folder, undefined, { radius })
  })
}

/**
 * The URL of a PostgreSQL database with the whole demo world of seed 1, at revision 1. It is imported once for the whole
 * run, and shared: no test may change it.
 */
export function fullDemoDatabaseUrl(): Promise<string> {
  return fullDemoUrl('shared')
}

/** The URL of a copy of it for the one test file that changes the world. */
export function changedDemoDatabaseUrl(): Promise<string> {
  return fullDemoUrl('changed')
}

async function fullDemoUrl(file: 'shared' | 'changed'): Promise<string> {
  const folder = await sharedFolder('full-demo', async (unfinished) => {
    const url = await freshDatabaseUrl()
    await importFullDemo(url)
    fs.writeFileSync(path.join(unfinished, 'shared'), url)
    // Later other processes have it open, and it cannot be copied.
    fs.writeFileSync(path.join(unfinished, 'changed'), await copyOfDatabase(new URL(url).pathname.slice(1)))
  })
  return fs.readFileSync(path.join(folder, file), 'utf8')
}

async function importFullDemo(databaseUrl: string): Promise<void> {
  const snapshot = await demoSnapshot(1, FULL_RADIUS)
  const engine = await openEngine({ ...TEST_SETTINGS, statementTimeoutMs: 0, databaseUrl })
  try {
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
