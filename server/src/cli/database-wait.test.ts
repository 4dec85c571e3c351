import Fastify from 'fastify'
import { expect, test } from 'vitest'
import type { Engine } from '../db/engine.ts'
import { databaseUnavailable } from '../db/statement-error.ts'
import { DatabaseWait } from './database-wait.ts'

test('while the database is away, the server is alive, whatever the query of the request, and serves nothing else', async () => {
  const absence = databaseUnavailable('connection refused')
  const engine = { open: () => Promise.reject(absence) } as unknown as Engine
  const server = Fastify()
  const waiting = new DatabaseWait(engine, server, absence)
  for (const path of ['/health/live', '/health/ready']) server.get(path, () => 'served')
  const statusOf = async (url: string) => (await server.inject(url)).statusCode
  const stop = new AbortController()
  const stopped = new Promise((resolve) => stop.signal.addEventListener('abort', resolve))

  const opening = waiting.start(stopped, async () => true)

  for (const url of ['/health/live', '/health/live?x', '/health/live?probe=1'])
    expect(await statusOf(url)).toBe(200)
  for (const url of ['/health/ready', '/nowhere', '/health/ready?/health/live'])
    expect(await statusOf(url), url).toBeGreaterThanOrEqual(500)
  stop.abort()
  expect(await opening).toBe(false)
  await server.close()
})
