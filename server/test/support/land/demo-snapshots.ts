import fs from 'node:fs'
import path from 'node:path'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import { readConfig } from '../../../src/config/config.ts'
import { openEngine } from '../../../src/db/open-engine.ts'
import { importSnapshot } from '../../../src/land/snapshot/import.ts'
import { copyOfDatabase, freshDatabaseUrl, TEST_SETTINGS } from '../database/engines.ts'
import { startLandServer, testClock } from '../http/land-server.ts'
import { sharedFolder } from '../run/shared-folder.ts'

const FULL_RADIUS = 150

/** The folder of a demo snapshot, made once for the whole run. It covers -radius,-radius to radius,radius. */
export function demoSnapshot(seed: number, radius: number): Promise<string> {
  return sharedFolder(`snapshot-${seed}-${radius}`, async (folder) => {
    await writeDemoSnapshot(seed, folder, undefined, { radius })
  })
}

/** The settings of a server over the whole demo world. */
export interface FullDemo {
  readonly DATABASE_URL: string
  readonly DATA_DIR: string
}

/**
 * A PostgreSQL database with the whole demo world of seed 1, at revision 1, and a folder with the copy that a server keeps of the state.
 * It is imported once for the whole run, and shared: no test may change it.
 */
export async function fullDemo(): Promise<FullDemo> {
  const folder = await fullDemoFolder()
  return { DATABASE_URL: readText(folder, 'shared'), DATA_DIR: path.join(folder, DATA) }
}

/** The URL of a copy of the database for the one test file that changes the world. */
export async function changedDemoDatabaseUrl(): Promise<string> {
  return readText(await fullDemoFolder(), 'changed')
}

const DATA = 'data'

function fullDemoFolder(): Promise<string> {
  return sharedFolder('full-demo', async (unfinished) => {
    const url = await freshDatabaseUrl()
    await importFullDemo(url)
    // Later other processes have it open, and it cannot be copied.
    fs.writeFileSync(path.join(unfinished, 'changed'), await copyOfDatabase(new URL(url).pathname.slice(1)))
    await saveFullDemo(url, path.join(unfinished, DATA))
    fs.writeFileSync(path.join(unfinished, 'shared'), url)
  })
}

function readText(folder: string, name: string): string {
  return fs.readFileSync(path.join(folder, name), 'utf8')
}

/** Starts a server over it once, which reads the tables: those that start later need only read the copy. */
async function saveFullDemo(databaseUrl: string, dataDir: string): Promise<void> {
  const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl })
  try {
    await (await startLandServer(engine, testClock(), { DATA_DIR: dataDir })).close()
  } finally {
    await engine.close()
  }
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
