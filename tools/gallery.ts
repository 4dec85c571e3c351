import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApp } from '@landpass/server/app'
import { withDatabase } from '@landpass/server/cli/open-database'
import { type Clock, SECOND_MS } from '@landpass/server/clock'
import { readConfig } from '@landpass/server/config/config'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { PRESENT_S } from '@landpass/simulators/demo/chain-time'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import { drawGallery } from './draw-gallery.ts'

// `npm run gallery`: draws docs/gallery.md and its pictures, from a demo world in a folder that is gone afterwards.

const ROOT = new URL('../..', import.meta.url)
const SEED = 1
/** The reference time of the demo world: what is for sale does not depend on the day on which the gallery is drawn. */
const DEMO_CLOCK: Clock = { nowMs: () => PRESENT_S * SECOND_MS }

const folder = mkdtempSync(join(tmpdir(), 'landpass-gallery-'))
try {
  await drawInto(folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function drawInto(folder: string): Promise<void> {
  const config = readConfig({ DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'silent' })
  const snapshot = join(folder, 'snapshot')
  await writeDemoSnapshot(SEED, snapshot)
  await withDatabase(config, async (engine) => {
    const report = await importSnapshot(engine.db, snapshot, {
      world: config.world,
      clock: DEMO_CLOCK,
      dryRun: false,
    })
    if (!report.ok) throw new Error('the demo world is refused')
    const app = await createApp({ config, engine, clock: DEMO_CLOCK })
    await app.keeper.start()
    for (const { path, bytes } of await drawGallery(app.server)) {
      const file = fileURLToPath(new URL(path, ROOT))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, bytes)
      console.log(`${path} ${bytes.length}`)
    }
    await app.close()
  })
}
