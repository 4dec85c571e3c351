import { join } from 'node:path'
import { createApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/config/config.ts'
import { openEngine } from '../../../src/db/open-engine.ts'
import { TEST_SETTINGS } from '../database/settings.ts'
import { REFERENCE_TIME_MS } from '../land/reference-time.ts'
import { TEST_DIR_VARIABLE } from '../run/prepared.ts'

/** A whole server on the database of its environment, whose clock stands still. Sends its address. */
const ownFolder = join(process.env[TEST_DIR_VARIABLE]!, `server-${process.pid}`)
const config = readConfig({ DATA_DIR: ownFolder, ...process.env })
const engine = await openEngine({ ...TEST_SETTINGS, ...config, mode: 'own' })
const app = await createApp({ config, engine, clock: { nowMs: () => REFERENCE_TIME_MS } })
await app.keeper.start()
process.send?.(await app.server.listen({ host: '127.0.0.1', port: 0 }))
