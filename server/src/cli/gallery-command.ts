import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { type Clock, SECOND_MS } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { PRESENT_S } from '../demo/chain-time.ts'
import { writeDemoSnapshot } from '../demo/write-snapshot.ts'
import { importSnapshot } from '../land/snapshot/import.ts'
import { withDatabase } from './open-database.ts'

const ROOT = new URL('../../../..', import.meta.url)
const SEED = 1
/** The reference time of the demo world: what is for sale does not depend on the day on which the gallery is drawn. */
const DEMO_CLOCK: Clock = { nowMs: () => PRESENT_S * SECOND_MS }

/** For developers: draws the gallery of the docs, from a demo world in a folder that is gone afterwards. */
export function addGalleryCommand(program: Command): void {
  program
    .command('gallery', { hidden: true })
    .description('draw docs/gallery.md and its pictures from the demo world')
    .action(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'landpass-gallery-'))
      try {
        await drawInto(folder)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
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
    // Imported here, because the other commands do not need the server's code, or load it while the database opens.
    const [{ createApp }, { drawGallery }] = await Promise.all([
      import('../app.ts'),
      import('../site/gallery.ts'),
    ])
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
