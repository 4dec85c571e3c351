import type { Config } from '../config/config.ts'
import type { Engine, EngineSettings } from '../db/engine.ts'
import { migrate } from '../db/migrate.ts'
import { openEngine } from '../db/open-engine.ts'

/** A server opens the embedded database itself; a tool connects to the running server that has it open, if any. */
export function engineSettings(config: Config, role: 'server' | 'tool'): EngineSettings {
  return {
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    syncToDisk: config.databaseSync,
    poolSize: role === 'server' ? config.databasePoolSize : 2,
    statementTimeoutMs: role === 'server' ? config.databaseTimeoutMs : 0,
    mode: role === 'server' ? 'own' : 'join',
  }
}

/** Opens the database for a tool, brings it up to date, and closes it whatever the work does. */
export async function withDatabase<T>(config: Config, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await openEngine(engineSettings(config, 'tool'))
  try {
    await migrate(engine)
    return await work(engine)
  } finally {
    await engine.close()
  }
}
