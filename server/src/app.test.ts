import {
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import { expect, test } from 'vitest'
import { createApp } from './app.ts'
import { SYSTEM_CLOCK } from './clock.ts'
import { type Config, type Environment, readConfig } from './config/config.ts'
import type { Engine } from './db/engine.ts'

/** Instead of a database, of which an app without an interface reads nothing but the number of connections. */
const NO_DATABASE = { pool: () => ({ total: 0, idle: 0, waiting: 0 }) } as unknown as Engine

/** Settings with which attendance is configured for the other issuer. */
const CONFIGURED = {
  EVENT_MAKERS: 'nobody',
  ATTENDANCE_KEY: 'a1'.repeat(32),
  ISSUER_API_KEY: 'key',
  ISSUER_CLIENT_ID: 'client',
  ISSUER_CLIENT_SECRET: 'secret',
}

/** An app without an interface. */
function emptyApp(env: Environment) {
  const config = readConfig({ LOG_LEVEL: 'silent', ...env })
  return createApp({ config, engine: NO_DATABASE, clock: SYSTEM_CLOCK, interfaces: [] })
}

const isMetrics = (text: string) => text.includes('nodejs_version_info')

test('the metrics are on the port of everything else', async () => {
  const app = await emptyApp({})

  const found = await app.server.inject('/metrics')
  expect([found.statusCode, isMetrics(found.body)]).toEqual([200, true])
  await app.close()
})

test('with a port of their own the metrics are nowhere else', async () => {
  const app = await emptyApp({ METRICS_PORT: '0' })
  // Before the start, which waits for the database.
  await app.startMetrics()

  expect((await app.server.inject('/metrics')).statusCode).toBe(404)
  const own = await fetch(`http://127.0.0.1:${app.metricsPort()}/metrics`)
  expect([own.status, isMetrics(await own.text())]).toEqual([200, true])
  await app.start() // does not listen once more
  await app.close()
  await expect(fetch(`http://127.0.0.1:${app.metricsPort()}/metrics`)).rejects.toThrow()
})

test('a server whose attendance is not configured is ready with a database that is read-only', async () => {
  // Not the usual folder: that of a server that was tried here has a key
  const config = readConfig({ LOG_LEVEL: 'silent', EVENT_MAKERS: 'nobody', DATA_DIR: '/no/such/folder' })
  const app = await attendanceApp(config, [{ read_only: 'on' }])
  expect(app.attendance?.setupProblem).toBeDefined()

  expect((await app.server.inject('/health/ready')).statusCode).toBe(200)
  expect((await app.server.inject('/health/ready/attendance')).json()).toMatchObject({
    code: 'attendance_not_configured',
  })
  await app.close()
})

test('a server is not ready before attendance has read what the database says about its key', async () => {
  const config = readConfig({ LOG_LEVEL: 'silent', ...CONFIGURED })
  const app = await attendanceApp(config, [])
  expect(app.attendance?.setupProblem).toBeUndefined()
  const states = async () => {
    const paths = ['/health/ready', '/health/ready/attendance']
    const answers = await Promise.all(paths.map((path) => app.server.inject(path)))
    return answers.map((answer) => [answer.statusCode, answer.json().code])
  }

  expect(await states()).toEqual(Array(2).fill([503, 'database_unavailable']))
  await app.attendance?.open()
  expect(await states()).toEqual(Array(2).fill([200, undefined]))
  await app.close()
})

/** An app that serves attendance alone, with a database that answers every statement with the same rows. */
function attendanceApp(config: Config, rows: readonly object[]) {
  const engine = { ...NO_DATABASE, db: answering(rows), refusedWrites: () => undefined } as unknown as Engine
  return createApp({ config, engine, clock: SYSTEM_CLOCK, interfaces: ['attendance'] })
}

function answering(rows: readonly object[]): Engine['db'] {
  class AnsweringDriver extends DummyDriver {
    override async acquireConnection() {
      const connection = await super.acquireConnection()
      const executeQuery = async () => ({ rows })
      return Object.assign(connection, { executeQuery }) as unknown as DatabaseConnection
    }
  }
  return new Kysely({
    dialect: {
      createDriver: () => new AnsweringDriver(),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}
