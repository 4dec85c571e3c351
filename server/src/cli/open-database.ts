import type { Config } from '../config/config.ts'
import type { Engine, EngineSettings } from '../db/engine.ts'
import { migrate } from '../db/migrate.ts'
import { isDatabaseMissing, openEngine } from '../db/open-engine.ts'
import { CommandError } from '../errors.ts'

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

/**
 * Opens the database for a tool, brings it up to date, and closes it whatever the work does.
 *
 * @throws {CommandError} when there is none, unless the tool may make it
 */
export async function withDatabase<T>(
  config: Config,
  work: (engine: Engine) => Promise<T>,
  { mayMake = false }: { readonly mayMake?: boolean } = {},
): Promise<T> {
  const settings = engineSettings(config, 'tool')
  if (!mayMake && isDatabaseMissing(settings))
    throw new CommandError(
      `There is no database in ${settings.dataDir}. Set DATA_DIR or DATABASE_URL to those of the server.`,
    )
  const engine = await openEngine(settings)
  try {
    await migrate(engine)
    return await work(engine)
  } finally {
    await engine.close()
  }
}
