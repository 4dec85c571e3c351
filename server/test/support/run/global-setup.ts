import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { sql } from 'kysely'
import { distribute } from '../../../src/db/distribution.ts'
import type { Db } from '../../../src/db/engine.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { openEngine } from '../../../src/db/open-engine.ts'
import { createCitusDatabase, startCitus, type TestCitus } from '../database/citus.ts'
import { startPostgres, type TestPostgres } from '../database/postgres.ts'
import type { BundledPrograms } from './bundle-programs.ts'
import { ON_CITUS, PREPARE_VARIABLE, SEED_VARIABLE, TEST_DIR_VARIABLE } from './prepared.ts'
import { makeTestFolder } from './test-folder.ts'
import '../processes/v8-options.ts'

/** The database that test files copy, on PostgreSQL. */
export const TEMPLATE_DATABASE = 'landpass_template'
/** The data folder that test files copy, in the folder of all tests. */
export const TEMPLATE_DIR = 'template'

const SETTINGS = { syncToDisk: false, poolSize: 1, statementTimeoutMs: 0, mode: 'own' } as const

/**
 * What several test files need, made once for the whole run and only when the first of them asks for it: a PostgreSQL,
 * on either engine a migrated database to copy, because creating one takes seconds and copying one does not, and the
 * bundled programs of processes.
 * Test files ask over HTTP (prepared.ts): they run in other processes. Everything is removed at the end.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const saySeed = chooseSeed()
  const testDir = makeTestFolder()
  process.env[TEST_DIR_VARIABLE] = testDir
  const removeFolder = () => fs.rmSync(testDir, { recursive: true, force: true })
  process.once('exit', removeFolder) // a run that is interrupted does not come to its end below
  process.env.TMPDIR = testDir // what os.tmpdir() answers in all processes of this run
  // Tests call servers of this machine only. Reading these certificates takes each of some hundred processes 30 ms of CPU time.
  delete process.env.NODE_EXTRA_CA_CERTS
  let started: Promise<Pick<TestPostgres, 'url' | 'stop'>> | undefined
  let bundled: Promise<BundledPrograms> | undefined
  const preparations = {
    '/postgres': onFirstCall(async () => {
      started = ON_CITUS ? prepareCitus() : preparePostgres()
      return (await started).url
    }),
    '/embedded': onFirstCall(async () => {
      const folder = path.join(testDir, TEMPLATE_DIR)
      await prepareEmbedded(folder)
      return folder
    }),
    '/programs': onFirstCall(async () => {
      // Loaded here, because the processes of the tests import this module and need no bundler
      bundled = import('./bundle-programs.ts').then(({ bundlePrograms }) => bundlePrograms())
      return (await bundled).folder
    }),
  }
  const server = await answerOnDemand(preparations)
  process.env[PREPARE_VARIABLE] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async () => {
    server.close()
    server.closeAllConnections()
    try {
      await (await started)?.stop()
    } finally {
      ;(await bundled)?.remove()
      removeFolder()
      saySeed()
    }
  }
}

/** One random seed for all processes of the run, where one is asked for. @returns prints how to repeat the run */
function chooseSeed(): () => void {
  if (process.env[SEED_VARIABLE] !== 'random') return () => undefined
  const seed = String(randomInt(2 ** 31))
  process.env[SEED_VARIABLE] = seed
  const say = () => console.log(`${SEED_VARIABLE}=${seed}`)
  say()
  return say
}

function onFirstCall<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Answers the text that belongs to a path, or 500 with the error. */
async function answerOnDemand(
  preparations: Readonly<Record<string, () => Promise<string>>>,
): Promise<http.Server> {
  const server = http.createServer(async ({ url = '' }, response) => {
    try {
      response.end(await preparations[url]!())
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function prepareEmbedded(dataDir: string): Promise<void> {
  const engine = await openEngine({ ...SETTINGS, dataDir })
  await migrate(engine)
  await engine.close()
  // PostgreSQL's own templates of databases, which nothing connects to: half of the 1,200 files of each copy
  for (const unused of ['1', '4'])
    fs.rmSync(path.join(dataDir, 'database', 'base', unused), { recursive: true })
}

async function preparePostgres(): Promise<TestPostgres> {
  const postgres = await startPostgres()
  const server = await openEngine({ ...SETTINGS, dataDir: '', databaseUrl: postgres.url })
  await sql.raw(`create database ${TEMPLATE_DATABASE}`).execute(server.db)
  await server.close()
  const template = new URL(postgres.url)
  template.pathname = `/${TEMPLATE_DATABASE}`
  await prepareTemplate(template.href)
  return postgres
}

/** Three servers as one database, with the tables distributed. */
async function prepareCitus(): Promise<TestCitus> {
  const citus = await startCitus(2)
  await prepareTemplate(await createCitusDatabase(citus, TEMPLATE_DATABASE), distribute)
  return citus
}

async function prepareTemplate(databaseUrl: string, more?: (db: Db) => Promise<unknown>): Promise<void> {
  const template = await openEngine({ ...SETTINGS, dataDir: '', databaseUrl })
  await migrate(template)
  await more?.(template.db)
  await template.close()
}
