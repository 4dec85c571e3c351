import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { openEngine } from '../../src/db/open-engine.ts'
import { REFERENCE_TIME_MS } from './land-server.ts'
import { TEST_SETTINGS } from './settings.ts'

/** A whole server on the database of its environment, whose clock stands still. Tells its address. */
const config = readConfig(process.env)
const engine = await openEngine({ ...TEST_SETTINGS, ...config, mode: 'own' })
const app = await createApp({ config, engine, clock: { nowMs: () => REFERENCE_TIME_MS } })
await app.keeper.start()
process.send?.(await app.server.listen({ host: '127.0.0.1', port: 0 }))
