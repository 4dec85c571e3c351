import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { migrate } from '../../src/db/migrate.ts'
import { openEngine } from '../../src/db/open-engine.ts'
import { startPostgres } from './postgres.ts'

/** The environment variables by which the tests find what is prepared here: workers inherit them. */
export const POSTGRES_VARIABLE = 'LANDPASS_TEST_POSTGRES'
export const TEST_DIR_VARIABLE = 'LANDPASS_TEST_DIR'

export const TEMPLATE_DATABASE = 'landpass_template'
/** In the folder of all tests. */
export const TEMPLATE_DIR = 'template'

/**
 * Once for the whole run: a PostgreSQL and, on either engine, a migrated database that is copied for each test file,
 * because creating one takes seconds and copying one does not. Everything that tests leave behind goes at the end.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const testDir = fs.mkdtempSync(path.join(os.tmpdir(), 'landpass-tests-'))
  process.env[TEST_DIR_VARIABLE] = testDir
  const embedded = prepareEmbedded(path.join(testDir, TEMPLATE_DIR))
  const postgres = await startPostgres()
  process.env[POSTGRES_VARIABLE] = postgres.url
  await Promise.all([embedded, preparePostgres(postgres.url)])
  return async () => {
    await postgres.stop()
    fs.rmSync(testDir, { recursive: true, force: true })
  }
}

const SETTINGS = { syncToDisk: false, poolSize: 1, statementTimeoutMs: 0, mode: 'own' } as const

async function prepareEmbedded(dataDir: string): Promise<void> {
  const engine = await openEngine({ ...SETTINGS, dataDir })
  await migrate(engine)
  await engine.close()
}

async function preparePostgres(url: string): Promise<void> {
  const server = await openEngine({ ...SETTINGS, dataDir: '', databaseUrl: url })
  await sql.raw(`create database ${TEMPLATE_DATABASE}`).execute(server.db)
  await server.close()
  const templateUrl = new URL(url)
  templateUrl.pathname = `/${TEMPLATE_DATABASE}`
  const template = await openEngine({ ...SETTINGS, dataDir: '', databaseUrl: templateUrl.href })
  await migrate(template)
  await template.close()
}
