import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, describe } from 'vitest'
import type { Engine, EngineSettings } from '../../../src/db/engine.ts'
import { openEngine } from '../../../src/db/open-engine.ts'
import { atEndOfEachFile } from '../run/end-of-file.ts'
import { TEMPLATE_DATABASE } from '../run/global-setup.ts'
import { ON_CITUS, prepared, TEST_DIR_VARIABLE, variable } from '../run/prepared.ts'
import { copyCitusDatabase } from './citus.ts'
import { expectEventStatements } from './event-statements.ts'
import { TEST_SETTINGS } from './settings.ts'

export { TEST_SETTINGS } from './settings.ts'

/** The compiler's library for Node.js does not have it. */
declare const WebAssembly: { compile(code: Uint8Array): Promise<object> }

export type EngineKind = Engine['kind']

/** Opens a database for this test file, migrated and empty; the same one every time within one `describe`. */
export type OpenEngine = (overrides?: Partial<EngineSettings>) => Promise<Engine>

/**
 * The same tests on the embedded engine and on PostgreSQL. Every call of `open` gives another engine on the same
 * database where that is possible: on the embedded engine the second joins the first.
 * Whatever is opened is closed at the end.
 *
 * @example
 * describeOnBothEngines('bids', (open) => {
 *   test('an empty world has none', async () => {
 *     const { db } = await open()
 *     expect(await db.selectFrom('bid').selectAll().execute()).toEqual([])
 *   })
 * })
 */
export function describeOnBothEngines(
  name: string,
  define: (open: OpenEngine, kind: EngineKind) => void,
): void {
  for (const kind of ['embedded', 'postgres'] as const) {
    describe(`${name} (${kind})`, () => define(freshEngine(kind), kind))
  }
}

/**
 * Tests of what does not depend on the engine: the state in memory, parameters, answers, HTTP. They run on PostgreSQL,
 * which needs less CPU; `journeys/both-engines.test.ts` compares the answers of every endpoint on both.
 */
export function describeOnOneEngine(name: string, define: (open: OpenEngine) => void): void {
  describe(name, () => define(freshEngine('postgres')))
}

/** For a test file that needs one engine only. Call it where `afterAll` may be called. */
export function freshEngine(kind: EngineKind): OpenEngine {
  const opened: Engine[] = []
  let place: Promise<Partial<EngineSettings>> | undefined
  afterAll(expectEventStatements)
  afterAll(async () => {
    // The last one first: those that joined before the one that they joined
    for (const engine of opened.reverse()) await engine.close()
  })
  return async (overrides = {}) => {
    place ??= kind === 'embedded' ? freshDataDir().then((dataDir) => ({ dataDir })) : freshUrlSettings()
    const mode = opened.length === 0 ? 'own' : 'join'
    const engine = await openEngine({ ...TEST_SETTINGS, mode, ...(await place), ...overrides })
    opened.push(engine)
    return engine
  }
}

/** The URL of a new PostgreSQL database, migrated and empty; gone after the run. */
export function freshDatabaseUrl(): Promise<string> {
  return copyOfDatabase(TEMPLATE_DATABASE)
}

/** The URL of a copy of a PostgreSQL database that no process has open; gone after the run. */
export async function copyOfDatabase(template: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await createDatabase(name, template)
  const url = new URL(await prepared('postgres'))
  url.pathname = `/${name}`
  return url.href
}

/**
 * The code of the embedded engine. V8 compiles its functions when they are first called, and shares what it compiled
 * between all threads of a process as long as one of them has the module. Each database has a thread of its own: without
 * this reference each of them would compile again.
 */
let engineCode: Promise<object> | undefined

/** The data folders of this test file: 25 MB each, of which a run makes more than a hundred. */
const dataDirs: string[] = []
atEndOfEachFile(async () => {
  for (const dir of dataDirs.splice(0)) fs.rmSync(dir, { recursive: true, force: true })
})

/** A new data folder for the embedded engine, its database migrated and empty; gone after the test file. */
export async function freshDataDir(): Promise<string> {
  engineCode ??= compileEngine()
  await engineCode
  return copyOfDataDir(await prepared('embedded'))
}

/** A new data folder with a copy of the database of another one, which no process has open; gone after the test file. */
export function copyOfDataDir(template: string): string {
  const dir = emptyDir()
  dataDirs.push(dir)
  fs.cpSync(path.join(template, 'database'), path.join(dir, 'database'), { recursive: true })
  return dir
}

/** A new folder with nothing in it; gone after the run. */
export function emptyDir(): string {
  return fs.mkdtempSync(path.join(variable(TEST_DIR_VARIABLE), 'data-'))
}

function compileEngine(): Promise<object> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  return WebAssembly.compile(fs.readFileSync(path.join(path.dirname(entry), 'pglite.wasm')))
}

async function freshUrlSettings(): Promise<Partial<EngineSettings>> {
  return { databaseUrl: await freshDatabaseUrl() }
}

/** Copies the template file by file: by way of its log, as PostgreSQL does from 15 on, it takes twice the CPU time. */
async function createDatabase(name: string, template: string): Promise<void> {
  const databaseUrl = await prepared('postgres')
  if (ON_CITUS) return copyCitusDatabase(databaseUrl, name, template)
  const server = await openEngine({ ...TEST_SETTINGS, databaseUrl, poolSize: 1 })
  const asked = await sql<{ version: number }>`select current_setting('server_version_num')::int as version`
  const { version } = (await asked.execute(server.db)).rows[0]!
  const strategy = version >= 150_000 ? 'strategy file_copy' : ''
  await sql.raw(`create database ${name} template ${template} ${strategy}`).execute(server.db)
  await server.close()
}
