import { expect, test } from 'vitest'
import { createApp } from './app.ts'
import { SYSTEM_CLOCK } from './clock.ts'
import { type Environment, readConfig } from './config/config.ts'
import type { Engine } from './db/engine.ts'

/** Instead of a database, of which an app without an interface reads nothing but the number of connections. */
const NO_DATABASE = { pool: () => ({ total: 0, idle: 0, waiting: 0 }) } as unknown as Engine

/** An app without an interface. */
function emptyApp(env: Environment) {
  const config = readConfig({ LOG_LEVEL: 'silent', ...env })
  return createApp({ config, engine: NO_DATABASE, clock: SYSTEM_CLOCK, interfaces: [] })
}

const isMetrics = (text: string) => text.includes('nodejs_version_info')

test('the metrics are on the port of everything else, at a path that can be set', async () => {
  const app = await emptyApp({ METRICS_PATH: '/figures' })

  expect((await app.server.inject('/metrics')).statusCode).toBe(404)
  const found = await app.server.inject('/figures')
  expect([found.statusCode, isMetrics(found.body)]).toEqual([200, true])
  await app.close()
})

test('with a port of their own the metrics are nowhere else', async () => {
  const app = await emptyApp({ METRICS_PORT: '0' })
  await app.start()

  expect((await app.server.inject('/metrics')).statusCode).toBe(404)
  const own = await fetch(`http://127.0.0.1:${app.metricsPort()}/metrics`)
  expect([own.status, isMetrics(await own.text())]).toEqual([200, true])
  await app.close()
  await expect(fetch(`http://127.0.0.1:${app.metricsPort()}/metrics`)).rejects.toThrow()
})
