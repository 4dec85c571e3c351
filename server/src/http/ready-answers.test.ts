import http from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type {} from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { lastingHeaders } from '../../test/support/http/same-answers.ts'
import { AppError } from '../errors.ts'
import { type Answer, DATA, streamed } from './answer.ts'
import { CompressedBodies } from './compressed-bodies.ts'
import { chargeRequests } from './cost-account.ts'
import { CostBudget } from './cost-budget.ts'
import { LargeAnswers } from './large-answers.ts'
import { Metrics } from './metrics.ts'
import { type ReadyAnswer, ReadyAnswers, readyAnswer } from './ready-answers.ts'
import { send } from './send.ts'
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

describe('an address that was answered', () => {
  /** A server whose route `/data` answers what `state` says, and counts the requests that reach the framework. */
  async function startData({ unitsPerMinute = 0 } = {}) {
    const metrics = new Metrics()
    const readyAnswers = new ReadyAnswers(metrics)
    const settings = { logLevel: 'silent', requestTimeoutMs: 5_000, trustedProxies: [] } as const
    app = await createServer({ ...settings, metrics, readyAnswers })
    const budget = new CostBudget(unitsPerMinute, () => 0)
    chargeRequests(app, { budget, largeAnswers: new LargeAnswers() })
    readyAnswers.chargeTo(budget, () => '127.0.0.1')
    const state = { tag: 'one', isGone: false, text: '[1]', cost: 2, framework: 0, made: 0, bodies: 0 }
    const time = { moment: {} }
    readyAnswers.holdDuring(() => time.moment)
    app.addHook('onRequest', (_request, _reply, done) => {
      state.framework++
      done()
    })
    const answer = (): Answer => {
      const { tag, isGone, text, cost } = state
      state.made++
      if (isGone) throw new AppError('estate_not_found', 'There is no estate with this id.')
      const freshness = { tag, changedAtMs: Date.parse('2026-11-20T10:00:00Z') }
      return { freshness, format: DATA, cost, headers: ['x-drawn', 'size'], body: () => text }
    }
    app.get<{ Querystring: { held?: string } }>('/data', { schema: { tags: ['map'] } }, (request, reply) =>
      send(request, reply, answer, Number(request.query.held ?? 0)),
    )
    const late = (): Answer => ({ ...answer(), body: async () => state.text })
    app.get('/late', (request, reply) => send(request, reply, late))
    const large = (): Answer => ({ ...answer(), body: () => streamed(() => [Buffer.from('[2]')], 1) })
    app.get('/large', (request, reply) => send(request, reply, large))
    const cachedAs = { bodies: new CompressedBodies(), name: 'shared' }
    const shared = (): Answer => ({
      ...answer(),
      body: () => streamed(() => [Buffer.from(state.text)], 7, cachedAs),
    })
    app.get('/shared', (request, reply) => send(request, reply, shared))
    const held = (isLate: boolean, given: () => string | readonly Buffer[]) => () => {
      const body = () => {
        state.bodies++
        return given()
      }
      return { ...answer(), moment: time.moment, body: isLate ? async () => body() : body }
    }
    const inPieces = () => [Buffer.from('['), Buffer.from(state.text.slice(1))]
    app.get('/held', (request, reply) => send(request, reply, held(false, inPieces)))
    app.get('/held/text', (request, reply) =>
      send(
        request,
        reply,
        held(false, () => state.text),
      ),
    )
    app.get('/held/late', (request, reply) =>
      send(
        request,
        reply,
        held(true, () => state.text),
      ),
    )
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    return { origin, state, time, metrics, budget }
  }

  const facts = ({ status, headers, body }: Awaited<ReturnType<typeof ask>>) => ({
    status,
    same: lastingHeaders(headers),
    text: body.toString(),
  })

  test('is answered again without the framework, in the same way', async () => {
    const { origin, state, metrics } = await startData({ unitsPerMinute: 1_000 })
    const ways = [
      ['GET', {}],
      ['HEAD', {}],
      ['GET', { 'if-none-match': '"one"' }],
      ['GET', { 'if-none-match': 'W/"one;gzip", "x"' }],
      ['GET', { 'if-none-match': '"another"' }],
      ['GET', { 'if-modified-since': 'Fri, 20 Nov 2026 10:00:00 GMT' }],
      ['GET', { 'accept-encoding': 'gzip' }],
    ] as const
    for (const [method, headers] of ways) {
      const url = `${origin}/data?${method}${JSON.stringify(headers)}`
      await ask(url) // known from here on, with its body
      const before = state.framework
      const again = await ask(url, method, headers)
      expect(state.framework, url).toBe(before)
      const first = await ask(`${url}&new`, method, headers)
      expect(state.framework, url).toBe(before + 1)
      expect(facts(again)).toEqual(facts(first))
      expect(again.headers['x-request-id']).toMatch(/./)
      const { 'ratelimit-remaining': left } = again.headers
      expect(Number(left) - Number(first.headers['ratelimit-remaining'])).toBe(again.status === 304 ? 1 : 2)
    }
    expect(await metrics.registry.metrics()).toContain(
      'landpass_http_requests_total{group="map",status="304"} 6',
    )
  })

  test('has a new answer when its tag changes, and a failure when it has none', async () => {
    const { origin, state } = await startData()
    const url = `${origin}/data`
    await ask(url)
    Object.assign(state, { tag: 'two', text: '[1,2]' })
    const stale = { 'if-none-match': '"one"' }
    for (let i = 0; i < 2; i++)
      expect(facts(await ask(url, 'GET', stale))).toMatchObject({
        status: 200,
        same: { etag: '"two"' },
        text: '{"ok":true,"data":[1,2]}',
      })
    expect(state.framework).toBe(2)
    state.isGone = true
    expect(await ask(url)).toMatchObject({ status: 404, headers: { 'x-error-code': 'estate_not_found' } })
    state.isGone = false
    expect(await ask(url)).toMatchObject({ status: 200 })
  })

  test('is answered by the framework where the body is compressed, comes late or is streamed, but for 304', async () => {
    const { origin, state } = await startData()
    const text = JSON.stringify('x'.repeat(5_000))
    state.text = text
    for (const path of ['/data', '/late', '/large']) {
      await ask(origin + path)
      const before = state.framework
      expect(await ask(origin + path, 'GET', { 'if-none-match': '"one"' })).toMatchObject({ status: 304 })
      expect(state.framework, path).toBe(before)
      await ask(origin + path, 'GET', { 'accept-encoding': 'gzip' })
      expect(state.framework, path).toBe(before + 1)
      expect(await ask(origin + path, 'GET', { 'if-match': '"x"' })).toMatchObject({ status: 412 })
    }
    const compressed = await ask(`${origin}/data`, 'GET', { 'accept-encoding': 'gzip' })
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', etag: '"one;gzip"' })
  })

  const LONG_TEXT = JSON.stringify([`Müller ${'x'.repeat(5_000)} 🏝`])
  const BODIES = [
    ['/held', '[1]'],
    ['/held', LONG_TEXT],
    ['/held/text', LONG_TEXT],
    ['/held/late', LONG_TEXT],
    ['/held', JSON.stringify(['x'.repeat(20_000)])],
  ] as const

  test.each(BODIES)('of %s is held while its moment lasts, with its body', async (path, text) => {
    const { origin, state, time } = await startData()
    state.text = text
    const url = origin + path
    const body = `{"ok":true,"data":${text}}`
    for (let i = 0; i < 3; i++)
      expect(facts(await ask(url)), `${i}`).toMatchObject({ status: 200, text: body })
    const { framework, made, bodies } = state
    for (const method of ['GET', 'HEAD', 'GET'])
      expect(facts(await ask(url, method))).toMatchObject({
        same: { 'content-length': String(Buffer.byteLength(body)) },
        text: method === 'GET' ? body : '',
      })
    expect(await ask(url, 'GET', { 'if-none-match': '"one"' })).toMatchObject({ status: 304 })
    expect({ framework, made, bodies }).toEqual(pick(state))
    await ask(url, 'GET', { 'accept-encoding': 'gzip' })
    expect(state.bodies).toBe(bodies)

    Object.assign(state, { tag: 'two', text: '[2]' })
    time.moment = {}
    for (let i = 0; i < 3; i++)
      expect(facts(await ask(url))).toMatchObject({ same: { etag: '"two"' }, text: '{"ok":true,"data":[2]}' })
  })

  const pick = ({ framework, made, bodies }: { framework: number; made: number; bodies: number }) => ({
    framework,
    made,
    bodies,
  })

  test.each([
    ['/held', 'gzip'],
    ['/held', 'br'],
    ['/held/late', 'gzip'],
    ['/held/text', 'br'],
  ])('of %s is held compressed with %s', async (path, encoding) => {
    const { origin, state, time, budget } = await startData({ unitsPerMinute: 1_000 })
    state.text = LONG_TEXT
    const url = origin + path
    const accepts = { 'accept-encoding': encoding }
    const first = await ask(url, 'GET', accepts)
    await ask(url, 'GET', accepts) // held from here on
    const before = pick(state)
    const { charged } = budget
    const again = await Promise.all([1, 2, 3].map(() => ask(url, 'GET', accepts)))
    expect(pick(state)).toEqual(before)
    expect(budget.charged - charged).toBe(3 * 2)
    for (const { status, headers, body } of again) {
      expect(status).toBe(200)
      const plain = encoding === 'br' ? brotliDecompressSync(body) : gunzipSync(body)
      expect(plain.toString()).toBe(`{"ok":true,"data":${LONG_TEXT}}`)
      expect(headers).toMatchObject({
        etag: `"one;${encoding}"`,
        vary: 'accept-encoding',
        'content-encoding': encoding,
        'content-length': String(body.length),
      })
      expect(Object.keys(headers).sort()).toEqual(Object.keys(first.headers).sort())
    }
    const head = await ask(url, 'HEAD', accepts)
    expect(head.headers['content-length']).toBe(again[0]!.headers['content-length'])
    expect(await ask(url, 'GET', { 'if-none-match': `"one;${encoding}"` })).toMatchObject({ status: 304 })
    expect((await ask(url)).body.toString()).toBe(`{"ok":true,"data":${LONG_TEXT}}`)

    Object.assign(state, { tag: 'two', text: '[2]' })
    time.moment = {}
    expect((await ask(url, 'GET', accepts)).body.toString()).toBe('{"ok":true,"data":[2]}')
  })

  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)(
    'is answered without the framework from the form that is cached with %s for all clients',
    async (encoding, plain) => {
      const { origin, state, budget } = await startData()
      state.text = LONG_TEXT
      const url = `${origin}/shared`
      const accepts = { 'accept-encoding': encoding }
      const charge = async (path: string, headers = {}, method = 'GET') => {
        const before = { framework: state.framework, charged: budget.charged }
        const answer = await ask(origin + path, method, headers)
        const charged = Math.round((budget.charged - before.charged) * 100) / 100
        return { answer, framework: state.framework - before.framework, charged }
      }
      expect(await charge('/shared', accepts)).toMatchObject({ framework: 1, charged: 7 }) // it is made
      const [again, other] = [await charge('/shared', accepts), await charge('/shared?other', accepts)]
      expect([again.framework, other.framework]).toEqual([0, 1])
      expect(again.charged).toBe(2)
      expect(other.charged).toBe(2)
      expect(facts(again.answer)).toEqual(facts(other.answer))
      expect(plain(again.answer.body).toString()).toBe(`{"ok":true,"data":${LONG_TEXT}}`)
      expect(again.answer.headers).toMatchObject({ etag: `"one;${encoding}"`, vary: 'accept-encoding' })

      const head = await charge('/shared', accepts, 'HEAD')
      expect([head.framework, head.answer.headers['content-length']]).toEqual([1, undefined])
      expect((await charge('/shared')).answer.body.toString()).toBe(`{"ok":true,"data":${LONG_TEXT}}`)
      Object.assign(state, { tag: 'two', text: '[2]' })
      expect(plain((await ask(url, 'GET', accepts)).body).toString()).toBe('{"ok":true,"data":[2]}')
    },
  )

  test('whose body is read from the database is read once more by one request, which is charged once', async () => {
    const { origin, state, budget } = await startData()
    state.text = JSON.stringify('x'.repeat(40_000)) // more than is held
    await ask(`${origin}/held/late`)
    await ask(`${origin}/held/late`)
    const { charged } = budget
    const { bodies } = state
    await ask(`${origin}/held/late`)
    expect([state.bodies - bodies, budget.charged - charged]).toEqual([1, 2])
  })

  test('is refused, and not made, when the client has used up its budget', async () => {
    const { origin, state, budget } = await startData({ unitsPerMinute: 5 })
    const statuses = []
    for (let i = 0; i < 2; i++) statuses.push((await ask(`${origin}/data`)).status)
    const unchanged = { 'if-none-match': '"one"' }
    statuses.push((await ask(`${origin}/data`, 'GET', unchanged)).status)
    expect([statuses, budget.charged, budget.refused]).toEqual([[200, 200, 304], 5, 0])

    const { made } = state
    for (const headers of [{}, unchanged])
      expect(await ask(`${origin}/data`, 'GET', headers)).toMatchObject({ status: 429 })
    expect([state.made, budget.charged, budget.refused]).toEqual([made, 5, 2])
  })

  test('is counted where nothing is limited', async () => {
    const { origin, budget } = await startData()
    for (let i = 0; i < 3; i++) await ask(`${origin}/data`)
    expect(budget.charged).toBe(6)
  })

  test('is forgotten when the functions of others hold much memory', async () => {
    const { origin, state } = await startData()
    await ask(`${origin}/data?held=0`)
    for (let i = 0; i < 10; i++) await ask(`${origin}/data?held=${1_000_000 + i}`)
    const before = state.framework
    await ask(`${origin}/data?held=0`)
    await ask(`${origin}/data?held=1000009`)
    expect(state.framework).toBe(before + 1)
  })
})
