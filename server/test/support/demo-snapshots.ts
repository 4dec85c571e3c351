import fs from 'node:fs'
import path from 'node:path'
import { readConfig } from '../../src/config.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openEngine } from '../../src/db/open-engine.ts'
import { writeDemoSnapshot } from '../../src/demo/write-snapshot.ts'
import { importSnapshot } from '../../src/land/snapshot/import.ts'
import { emptyDir, TEST_SETTINGS } from './engines.ts'
import { TEST_DIR_VARIABLE } from './global-setup.ts'
import { testClock } from './land-server.ts'

const LOOK_EVERY_MS = 50
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

/**
 * The folder of this name, which the first test file to ask for it fills. Test files run in several processes:
 * creating a folder is what the file system gives to exactly one of them.
 */
async function madeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = path.join(process.env[TEST_DIR_VARIABLE]!, name)
  const unfinished = `${folder}.unfinished`
  const failed = `${folder}.failed`
  if (fs.existsSync(folder)) return folder
  // Looked for twice: somebody may have finished it between the first look and our turn
  if (isMine(unfinished) && !fs.existsSync(folder)) {
    try {
      await make(unfinished)
    } catch (error) {
      fs.writeFileSync(failed, String(error))
      throw error
    }
    fs.renameSync(unfinished, folder)
  }
  while (!fs.existsSync(folder)) {
    if (fs.existsSync(failed)) throw new Error(fs.readFileSync(failed, 'utf8'))
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  return folder
}

function isMine(folder: string): boolean {
  try {
    fs.mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
