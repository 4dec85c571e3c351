import { hasDatabase, openEmbedded } from './embedded/embedded-engine.ts'
import { joinBySocket, openLentPort } from './embedded/remote-engine.ts'
import type { Engine, EngineSettings, EngineSource } from './engine.ts'
import { createPostgres, openPostgres } from './postgres/postgres-engine.ts'

export type { EngineSettings } from './engine.ts'

/**
 * Opens PostgreSQL when there is a `databaseUrl`, the embedded engine otherwise.
 * @throws {CommandError} when it cannot be opened: the message says why and what to do, and never holds a password.
 */
export function openEngine(settings: EngineSettings): Promise<Engine> {
  const { databaseUrl } = settings
  return databaseUrl === undefined ? openEmbedded(settings) : openPostgres({ ...settings, databaseUrl })
}

/**
 * Like {@link openEngine}, for a server that can wait for its database: PostgreSQL is not connected yet, and the caller
 * calls `Engine.open` until it succeeds.
 */
export async function createEngine(settings: EngineSettings): Promise<Engine> {
  const { databaseUrl } = settings
  return databaseUrl === undefined ? openEmbedded(settings) : createPostgres({ ...settings, databaseUrl })
}

/** Whether there is no database yet and {@link openEngine} would make one. PostgreSQL's is always there. */
export function isDatabaseMissing({ databaseUrl, dataDir }: EngineSettings): boolean {
  return databaseUrl === undefined && !hasDatabase(dataDir)
}

/** Opens an engine in a worker thread: the embedded engine of its parent, or connections of its own to PostgreSQL. */
export async function openLent(source: EngineSource): Promise<Engine> {
  switch (source.kind) {
    case 'embedded':
      return openLentPort(source)
    case 'joined':
      return joinBySocket(source)
    case 'postgres':
      // Connects with the first statement, which says why where the database is away
      return createPostgres(source)
  }
}
