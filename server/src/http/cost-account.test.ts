import http from 'node:http'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BARE_JSON, DATA, streamed } from './answer.ts'
import { CompressedBodies } from './compressed-bodies.ts'
import { chargeRequests, MADE_BYTES_PER_UNIT } from './cost-account.ts'
import { CostBudget } from './cost-budget.ts'
import { LargeAnswers } from './large-answers.ts'
import { Metrics } from './metrics.ts'
import { send } from './send.ts'
import { createServer } from './server.ts'

const PER_MINUTE = 1_000
const FRESHNESS = { tag: 'abc.1', changedAtMs: 1_000 }
const LARGE = Buffer.alloc(10 * MADE_BYTES_PER_UNIT, 'x')

/** Times {@link LARGE}: more than the buffers of the sockets hold while a client does not read. */
const FAR_TOO_MANY = 100

let app: FastifyInstance
let origin: string
let nowMs: number
let budget: CostBudget
/** How often each body was made. */
let made: string[]
let logged: string[]

beforeEach(() => start(PER_MINUTE))
afterEach(() => app.close())

async function start(perMinute: number, trustedProxies: readonly string[] = []) {
  nowMs = 0
  made = []
  logged = []
  budget = new CostBudget(perMinute, () => nowMs)
  const bodies = new CompressedBodies()
  const settings = { logLevel: 'warn', requestTimeoutMs: 5_000, trustedProxies } as const
  app = await createServer({ ...settings, metrics: new Metrics() })
  app.log.warn = (...line: unknown[]) => logged.push(line.map((part) => JSON.stringify(part)).join(' '))
  const makes = (name: string, body: Buffer | string = '[1]') => {
    made.push(name)
    return body
  }
  await app.register(async (land) => {
    chargeRequests(land, { budget, largeAnswers: new LargeAnswers({ max: 2, perClient: 1 }) })
    land.get('/small', (request, reply) =>
      send(request, reply, { freshness: FRESHNESS, format: DATA, body: () => makes('small') as string }),
    )
    land.get('/dear', (request, reply) =>
      send(request, reply, {
        freshness: FRESHNESS,
        format: DATA,
        cost: 400,
        body: () => makes('dear') as string,
      }),
    )
    land.get('/longer', (request, reply) =>
      send(request, reply, {
        freshness: FRESHNESS,
        format: BARE_JSON,
        body: () => [makes('longer', LARGE) as Buffer],
      }),
    )
    land.get('/streamed', (request, reply) =>
      send(request, reply, {
        freshness: FRESHNESS,
        format: BARE_JSON,
        body: () => streamed(() => Array(FAR_TOO_MANY).fill(LARGE) as Buffer[], 300),
      }),
    )
    land.get('/shared', (request, reply) =>
      send(request, reply, {
        freshness: FRESHNESS,
        format: BARE_JSON,
        body: () => streamed(() => [makes('shared', LARGE) as Buffer], 300, { bodies, name: 'shared' }),
      }),
    )
    land.get('/wrong', () => {
      throw new Error('a fault')
    })
  })
  app.get('/free', (_request, reply) => reply.send('here'))
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
}

async function ask(path: string, headers: http.OutgoingHttpHeaders = {}) {
  const response = await open(path, headers)
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

function open(path: string, headers: http.OutgoingHttpHeaders = {}): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    http.get(origin + path, { headers, agent: false }, resolve).on('error', reject)
  })
}

const left = async () =>
  Number((await ask('/small', { 'if-none-match': '"abc.1"' })).headers['ratelimit-remaining'])

test('each answer says what is left: a small one costs one unit, a 304 as much', async () => {
  const first = await ask('/small')
  expect(first.headers).toMatchObject({
    'ratelimit-limit': '1000',
    'ratelimit-remaining': '999',
    'ratelimit-reset': '1',
  })
  expect(String(first.headers['access-control-expose-headers'])).toContain('RateLimit-Remaining')
  for (let i = 0; i < 4; i++) expect((await ask('/small', { 'if-none-match': '"abc.1"' })).status).toBe(304)
  expect((await ask('/small')).headers['ratelimit-remaining']).toBe('994')
})

test('an expensive answer is refused before its body is made', async () => {
  for (let i = 0; i < 2; i++) expect((await ask('/dear')).status).toBe(200)
  const refused = await ask('/dear')

  expect(made).toEqual(['dear', 'dear'])
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '13', 'ratelimit-remaining': '199', 'x-error-code': 'too_many_requests' },
  })
  expect(JSON.parse(refused.body)).toMatchObject({
    code: 'too_many_requests',
    data: { retry_after_s: 13 },
  })
  expect((await ask('/small')).status, 'a cheap one still fits').toBe(200)
  nowMs += 13_000
  expect((await ask('/dear')).status).toBe(200)
})

test('a client without any budget left is refused at arrival, faults included; other routes are free', async () => {
  budget.bucketOf('127.0.0.1').settle(PER_MINUTE)

  for (const path of ['/small', '/wrong', '/shared']) expect((await ask(path)).status, path).toBe(429)
  expect((await ask('/free')).headers).not.toHaveProperty('ratelimit-limit')
})

test('an answer that is larger than its estimate costs what its bytes cost', async () => {
  await ask('/longer', { 'accept-encoding': 'identity' })

  expect(await left()).toBe(PER_MINUTE - 11)
})

test('a shared body is paid for by the client for which it is made; afterwards it costs its bytes', async () => {
  const headers = { 'accept-encoding': 'gzip' }
  await ask('/shared', headers)
  expect(await left()).toBe(PER_MINUTE - 301)
  await ask('/shared', headers)
  await ask('/shared', headers)

  expect(await left()).toBe(PER_MINUTE - 304)
  expect(made).toEqual(['shared'])
})

test.each(['gzip', 'br'])(
  'a client that accepts no compression gets the cached body decompressed, for a quarter of its cost (%s)',
  async (encoding) => {
    await ask('/shared', { 'accept-encoding': encoding })
    const plain = await ask('/shared', { 'accept-encoding': 'identity' })

    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect([plain.headers.etag, plain.body.length]).toEqual(['"abc.1"', LARGE.length])
    expect(await left()).toBe(PER_MINUTE - 300 - 75 - 1)
    expect(made).toEqual(['shared'])
  },
)

test('large answers of one address are limited, and one that its client leaves makes room', async () => {
  const reading = await open('/streamed', { 'accept-encoding': 'identity' })
  const refused = await ask('/streamed')
  reading.destroy()
  while ((await ask('/streamed')).status === 429) budget.bucketOf('127.0.0.1').settle(-300)

  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' } })
})

test('a large answer that gets no place is not charged, and one that cannot be paid takes no place', async () => {
  const bucket = budget.bucketOf('127.0.0.1')
  bucket.settle(PER_MINUTE - 200)
  expect((await ask('/streamed')).headers['ratelimit-remaining']).toBe('199')
  bucket.settle(200 - PER_MINUTE)

  const reading = await open('/streamed', { 'accept-encoding': 'identity' })
  expect(reading.statusCode).toBe(200)
  expect((await ask('/streamed')).status).toBe(429)

  expect(await left()).toBe(PER_MINUTE - 1 - 300 - 1 - 1)
  reading.destroy()
})

test('an untrusted X-Forwarded-For is ignored, and logged once', async () => {
  for (const forwarded of ['192.0.2.1', '192.0.2.2']) await ask('/small', { 'x-forwarded-for': forwarded })

  expect(await left()).toBe(PER_MINUTE - 3)
  expect(logged).toEqual([expect.stringContaining('TRUSTED_PROXIES')])
})

test('behind a trusted proxy each client has its own budget, an IPv6 network one for all its addresses', async () => {
  await app.close()
  await start(PER_MINUTE, ['127.0.0.1'])
  const remaining = async (forwarded: string) =>
    (await ask('/small', { 'x-forwarded-for': forwarded })).headers['ratelimit-remaining']

  expect(await remaining('192.0.2.1')).toBe('999')
  expect(await remaining('192.0.2.2')).toBe('999')
  expect(await remaining('2001:db8:1:2::1')).toBe('999')
  expect(await remaining('2001:db8:1:2:ffff::9')).toBe('998')
  expect(await remaining('192.0.2.2:4711')).toBe('998')
  expect(await remaining('[2001:db8:1:2:ffff::9]:4711')).toBe('997')
  expect(logged).toEqual([])

  for (const unknown of ['unknown', '1.2.3', '[192.0.2.3', '192.0.2.3:x', '_hidden']) await remaining(unknown)
  expect(logged).toEqual([expect.stringContaining('has no IP address for its client')])
})

test('without a limit nothing is counted, and no header is sent', async () => {
  await app.close()
  await start(0)

  expect((await ask('/dear')).headers).not.toHaveProperty('ratelimit-limit')
})
