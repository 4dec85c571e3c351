import http from 'node:http'
import type {} from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { Metrics } from './metrics.ts'
import { type ReadyAnswer, ReadyAnswers, readyAnswer } from './ready-answers.ts'
import { createServer } from './server.ts'

const BODY = Buffer.from([137, 80, 78, 71, 0, 255, 254, 128])
const HEADERS = { etag: '"abc.1"', 'content-type': 'image/png' }

let app: FastifyInstance
afterEach(() => app.close())

/** A server whose route `/picture` is answered from memory after its first request. */
async function start(beforeListening: () => unknown = () => {}) {
  const metrics = new Metrics()
  const routed: string[] = []
  const ready = new Map<string, ReadyAnswer>()
  const readyAnswers = new ReadyAnswers(metrics)
  const settings = { logLevel: 'silent', requestTimeoutMs: 5_000, trustedProxies: [] } as const
  app = await createServer({ ...settings, metrics, readyAnswers })
  app.get('/picture', { compress: false, schema: { tags: ['map'] } }, (request, reply) => {
    routed.push(request.raw.url!)
    ready.set(
      request.raw.url!,
      readyAnswer({ group: 'map', headers: Object.entries(HEADERS).flat(), body: BODY }),
    )
    return reply.headers(HEADERS).send(BODY)
  })
  readyAnswers.findWith((url) => ready.get(url))
  beforeListening()
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return { origin, metrics, routed }
}

function ask(url: string, method = 'GET', headers: http.OutgoingHttpHeaders | readonly string[] = {}) {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>(
    (resolve, reject) => {
      const request = http.request(url, { method, headers, agent: false }, (response) => {
        response.toArray().then((pieces) => {
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) })
        }, reject)
      })
      request.on('error', reject).end()
    },
  )
}

test('a ready answer has the headers and the body of the answer of the framework', async () => {
  const { origin, routed } = await start()
  for (const method of ['GET', 'HEAD']) {
    const first = await ask(`${origin}/picture?${method}`, method, { 'x-request-id': 'mine' })
    const again = await ask(`${origin}/picture?${method}`, method, { 'x-request-id': 'mine' })
    expect(routed.filter((url) => url.endsWith(method))).toHaveLength(1)
    expect({ ...again, headers: { ...again.headers, date: '' } }).toEqual({
      ...first,
      headers: { ...first.headers, date: '' },
    })
    expect(again.body).toEqual(method === 'GET' ? BODY : Buffer.alloc(0))
    expect(again.headers).toMatchObject({
      'x-request-id': 'mine',
      'x-content-type-options': 'nosniff',
      'content-length': '8',
      etag: '"abc.1"',
    })
  }
})

test('each ready answer has its own request id if the client sent none', async () => {
  const { origin } = await start()
  const ids = []
  for (let i = 0; i < 3; i++) ids.push((await ask(`${origin}/picture`)).headers['x-request-id'])
  expect(new Set(ids).size).toBe(3)
})

test('ready answers are counted in the metrics', async () => {
  const { origin, metrics } = await start()
  for (let i = 0; i < 3; i++) await ask(`${origin}/picture`)
  await ask(`${origin}/picture`, 'HEAD')

  const text = await metrics.registry.metrics()
  const figure = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    )
  expect(figure('landpass_http_requests_total{group="map",status="200"}')).toBe(4)
  expect(figure('landpass_http_request_duration_seconds_count')).toBe(4)
  expect(figure('landpass_http_response_bytes_total{group="map"}')).toBeGreaterThan(3 * BODY.length)
})

test('other requests are answered by the framework', async () => {
  const { origin, routed } = await start()
  await ask(`${origin}/picture`)
  expect(await ask(`${origin}/picture`, 'POST')).toMatchObject({ status: 405 })
  expect(await ask(`${origin}/picture`, 'OPTIONS')).toMatchObject({ status: 204 })
  expect(await ask(`${origin}/picture`, 'GET', { expect: 'a miracle' })).toMatchObject({ status: 417 })
  expect(await ask(`${origin}/picture`, 'GET', { host: '' })).toMatchObject({ status: 200 })
  const twoHosts = await ask(`${origin}/picture`, 'GET', ['host', 'a.example', 'Host', 'b.example'])
  expect(twoHosts).toMatchObject({ status: 400, headers: { 'x-error-code': 'bad_request' } })
  for (const headers of [
    { 'if-none-match': '"abc.1"' },
    { 'if-modified-since': 'Fri, 20 Nov 2026 10:00:00 GMT' },
  ]) {
    const before = routed.length
    await ask(`${origin}/picture`, 'GET', headers)
    expect(routed.length).toBe(before + 1)
  }
  expect((await ask(`${origin}/picture?other`)).status).toBe(200)
  expect(routed.at(-1)).toBe('/picture?other')
})

test('many requests on one connection are answered in their order', async () => {
  const { origin } = await start()
  await ask(`${origin}/picture`)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const method = i % 3 === 0 ? 'HEAD' : 'GET'
      return new Promise<number>((resolve, reject) => {
        http
          .request(`${origin}/picture`, { method, agent }, (response) => {
            response.toArray().then((pieces) => resolve(Buffer.concat(pieces).length), reject)
          })
          .on('error', reject)
          .end()
      })
    }),
  )
  agent.destroy()
  expect(answers).toEqual(answers.map((_, i) => (i % 3 === 0 ? 0 : BODY.length)))
})

test('the server keeps its limits, and a server that closes sends no ready answer', async () => {
  let whileClosing: unknown
  const { origin, routed } = await start(() =>
    app.addHook('preClose', async () => {
      const { status, headers } = await ask(`${origin}/picture`)
      whileClosing = [status, headers.connection]
    }),
  )
  const { requestTimeout, keepAliveTimeout, timeout } = app.server
  expect([requestTimeout, keepAliveTimeout, timeout]).toEqual([5_000, 65_000, 120_000])

  await ask(`${origin}/picture`)
  await ask(`${origin}/picture`)
  expect(routed).toHaveLength(1)
  await app.close()

  expect(whileClosing).toEqual([200, 'close'])
  expect(routed).toHaveLength(2)
})
