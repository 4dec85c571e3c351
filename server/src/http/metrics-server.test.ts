import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { Metrics } from './metrics.ts'
import { type MetricsServer, serveMetrics } from './metrics-server.ts'

let server: MetricsServer
const metrics = new Metrics()

beforeEach(async () => {
  server = await serveMetrics(metrics, { host: '127.0.0.1', port: 0, path: '/figures' })
})
afterEach(() => server.close())

test('a port of its own has the metrics at one path, and nothing else', async () => {
  const origin = `http://127.0.0.1:${server.port}`
  const found = await fetch(`${origin}/figures?scrape=1`)

  expect([found.status, found.headers.get('content-type')]).toEqual([200, metrics.registry.contentType])
  expect(await found.text()).toContain('process_resident_memory_bytes')
  for (const path of ['/', '/metrics', '/v1/parcels/0/0', '/health/live', '/toString'])
    expect((await fetch(origin + path)).status, path).toBe(404)
  expect((await fetch(`${origin}/figures`, { method: 'POST' })).status).toBe(404)
})

test('a port that is taken is an error', async () => {
  await expect(
    serveMetrics(metrics, { host: '127.0.0.1', port: server.port, path: '/figures' }),
  ).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('a metric that cannot be read is a 500, and the server goes on', async () => {
  const broken = new Metrics()
  let isBroken = true
  const read = () => {
    if (isBroken) throw new Error('not now')
    return 7
  }
  broken.addGauges([{ name: 'a_figure', help: 'A figure.', read }])
  const own = await serveMetrics(broken, { host: '127.0.0.1', port: 0, path: '/metrics' })
  const ask = () => fetch(`http://127.0.0.1:${own.port}/metrics`)

  expect((await ask()).status).toBe(500)
  isBroken = false
  expect(await (await ask()).text()).toContain('a_figure 7')
  await own.close()
})

test('a process that serves nothing else has its health on this port, too', async () => {
  let failure: Error | undefined
  const ready = async () => {
    if (failure) throw failure
    return { block: 7 }
  }
  const own = await serveMetrics(metrics, { host: '127.0.0.1', port: 0, path: '/metrics' }, ready)
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${own.port}${path}`)
    return [answer.status, await answer.json()]
  }

  expect(await ask('/health/live')).toEqual([200, { ok: true, data: { status: 'live', version: VERSION } }])
  expect(await ask('/health/ready?x')).toEqual([200, { ok: true, data: { status: 'ready', block: 7 } }])
  failure = new AppError('database_unavailable', 'The database does not answer.')
  expect(await ask('/health/ready')).toMatchObject([503, { ok: false, code: 'database_unavailable' }])
  failure = new Error('a secret of the driver')
  expect(await ask('/health/ready')).toMatchObject([500, { error: 'Something went wrong on our side.' }])
  await own.close()
})
