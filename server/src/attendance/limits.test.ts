import { once } from 'node:events'
import http, { type IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { REFERENCE_TIME_MS } from '../../test/support/http/land-server.ts'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import type { LimitsConfig } from '../config/config.ts'
import { AppError } from '../errors.ts'
import { Metrics } from '../http/metrics.ts'
import { createServer } from '../http/server.ts'
import { type Limits, registerLimits } from './limits.ts'

const ANN = '0x00000000000000000000000000000000000000aa'
const BOB = '0x00000000000000000000000000000000000000bb'
const PROXY = '127.0.0.1'

let app: FastifyInstance
let origin: string

// The plugin counts by Date.now(), which these tests set
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: REFERENCE_TIME_MS })
})

afterEach(async () => {
  vi.useRealTimers()
  await app.close()
})

/** A server with limits in one scope; `/captcha` takes the player from a header. */
async function start(config: Partial<LimitsConfig>, trustedProxies: readonly string[] = []) {
  app = await createServer({
    logLevel: 'silent',
    requestTimeoutMs: 5_000,
    metrics: new Metrics(),
    trustedProxies,
  })
  await app.register(async (part) => {
    const limits = await registerLimits(part, {
      clientPerMinute: 0,
      makerPerMinute: 0,
      eventsPerDay: 0,
      waitingEventsPerDay: 0,
      tokenListsPerMinute: 0,
      sharePicturesPerMinute: 0,
      imagePerMinute: 0,
      playerPerMinute: 0,
      organiserPerMinute: 0,
      grantsPerMinute: 0,
      eventGrantsPerMinute: 0,
      ...config,
    })
    addRoutes(part, limits)
  })
  app.get('/land', async () => ({ ok: true }))
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
}

function addRoutes(part: FastifyInstance, { clientLimit, organiserLimit, playerLimit }: Limits): void {
  part.post('/captcha', { onRequest: clientLimit }, async (request, reply) => {
    await playerLimit(request, reply, String(request.headers['x-player']))
    return { ok: true }
  })
  part.post<{ Body: { code?: 'no_codes_left' } | undefined }>(
    '/claim',
    { onRequest: clientLimit },
    async ({ body }) => {
      if (body?.code) throw new AppError(body.code, 'No.')
      return { ok: true }
    },
  )
  part.post('/event', { onRequest: organiserLimit }, async () => ({ ok: true }))
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

async function post(path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
  const request = http.request(origin + path, { method: 'POST', headers, agent: false })
  request.end(body)
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const bytes = Buffer.concat(await response.toArray())
  return { status: response.statusCode!, headers: response.headers, body: JSON.parse(bytes.toString()) }
}

type Send = () => Promise<Answer>

/** Sends one request after the other, because parallel requests may arrive in any order. */
async function statuses(requests: readonly Send[]): Promise<number[]> {
  const all: number[] = []
  for (const send of requests) all.push((await send()).status)
  return all
}

const to =
  (path: string): Send =>
  () =>
    post(path)
const from =
  (address: string): Send =>
  () =>
    post('/captcha', { 'x-forwarded-for': address })
const by =
  (player: string): Send =>
  () =>
    post('/captcha', { 'x-player': player })

function limitHeaders({ headers }: Answer) {
  return [headers['ratelimit-limit'], headers['ratelimit-remaining'], headers['ratelimit-reset']]
}

describe('a network address', () => {
  test('may send a limited number of requests a minute, to captcha and claim together', async () => {
    await start({ clientPerMinute: 3 })

    const answers = [
      await post('/captcha'),
      await post('/claim'),
      await post('/captcha'),
      await post('/claim'),
    ]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(answers.map(limitHeaders)).toEqual([
      ['3', '2', '60'],
      ['3', '1', '60'],
      ['3', '0', '60'],
      ['3', '0', '60'],
    ])
    expect(answers[3]!.headers).toMatchObject({ 'retry-after': '60', 'cache-control': 'no-store' })
    expect(answers[3]!.body).toEqual({
      ok: false,
      error: 'Too many requests from this network address: 3 a minute are allowed. Wait 60 seconds.',
      code: 'too_many_requests',
      data: { retry_after_s: 60 },
    })
  })

  test('may send again when the minute is over', async () => {
    await start({ clientPerMinute: 1 })
    await post('/claim')

    vi.setSystemTime(REFERENCE_TIME_MS + 45 * SECOND_MS)
    const refused = await post('/claim')
    vi.setSystemTime(REFERENCE_TIME_MS + MINUTE_MS)

    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '15'])
    expect((await post('/claim')).status).toBe(200)
  })

  test('reads in the headers of every answer, errors too, how many requests are left', async () => {
    await start({ clientPerMinute: 10, organiserPerMinute: 10 })

    const answers = [
      await post('/claim', {}, '{"code":"no_codes_left"}'),
      await post('/claim', {}, 'no JSON'),
      await post('/claim', {}, `{"long":"${'x'.repeat(70_000)}"}`),
      await post('/event'),
    ]

    expect(answers.map(({ status }) => status)).toEqual([409, 400, 413, 200])
    expect(answers.map((answer) => limitHeaders(answer)[1])).toEqual(['9', '8', '7', '9'])
  })

  test('has its own count for the calls of organisers, and none elsewhere', async () => {
    await start({ clientPerMinute: 1, organiserPerMinute: 1 })

    expect(await statuses([to('/claim'), to('/event')])).toEqual([200, 200])
    expect(await statuses([to('/claim'), to('/event')])).toEqual([429, 429])
    expect((await fetch(`${origin}/land`)).headers.get('ratelimit-limit')).toBeNull()
  })

  test('is not counted where the limit is 0', async () => {
    await start({})

    const answers = await Promise.all(Array.from({ length: 50 }, () => post('/claim')))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(limitHeaders(answers[0]!)).toEqual([undefined, undefined, undefined])
  })
})

test('of many requests at the same time, no more than the limit pass', async () => {
  await start({ clientPerMinute: 10 })

  const answers = await Promise.all(Array.from({ length: 100 }, to('/claim')))

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
})

describe('X-Forwarded-For', () => {
  test('is ignored when no proxy is trusted', async () => {
    await start({ clientPerMinute: 2 })

    expect(await statuses(['1.1.1.1', '2.2.2.2', '3.3.3.3'].map(from))).toEqual([200, 200, 429])
  })

  test('is ignored when another proxy is trusted', async () => {
    await start({ clientPerMinute: 2 }, ['10.0.0.0/8'])

    expect(await statuses(['1.1.1.1', '2.2.2.2', '3.3.3.3'].map(from))).toEqual([200, 200, 429])
  })

  test('is read when a trusted proxy sent it: each client has a count', async () => {
    await start({ clientPerMinute: 1 }, [PROXY])

    expect(await statuses(['1.1.1.1', '2.2.2.2', '::ffff:3.3.3.3'].map(from))).toEqual([200, 200, 200])
    expect(await statuses(['1.1.1.1', '2.2.2.2', '3.3.3.3'].map(from))).toEqual([429, 429, 429])
  })

  test('addresses that the client itself wrote are ignored', async () => {
    await start({ clientPerMinute: 1 }, [PROXY])

    expect(await statuses([from('6.6.6.6, 1.1.1.1'), from('7.7.7.7, 1.1.1.1')])).toEqual([200, 429])
  })

  test('with several trusted proxies in a row, the address before them counts', async () => {
    await start({ clientPerMinute: 1 }, [PROXY, '10.0.0.0/8'])

    expect(await statuses([from('1.1.1.1, 10.0.0.1'), from('1.1.1.1, 10.9.9.9')])).toEqual([200, 429])
  })

  test('ports and brackets are no part of an address, that of a trusted proxy neither', async () => {
    await start({ clientPerMinute: 1 }, [PROXY, '10.0.0.0/8', '2001:db8:a::/48'])

    expect(await statuses(['1.1.1.1:555', '2.2.2.2:1', '[2001:db8::5]'].map(from))).toEqual([200, 200, 200])
    const same = ['1.1.1.1:556', '2.2.2.2', '[2001:db8::6]:8080', '2001:db8::7', '1.1.1.1:1, 10.0.0.1:443']
    expect(await statuses([...same, '2.2.2.2:3, [2001:db8:a::1]:443'].map(from))).toEqual(Array(6).fill(429))
  })

  test('a network of IPv6 addresses is one client', async () => {
    await start({ clientPerMinute: 1 }, [PROXY])

    expect(await statuses([from('2001:db8::1'), from('2001:db8::ffff:2')])).toEqual([200, 429])
    expect(await statuses([from('2001:db8:0:1::1')])).toEqual([200])
  })

  test('without a valid address in it the proxy is counted', async () => {
    await start({ clientPerMinute: 1 }, [PROXY])

    expect(await statuses([from('no address'), from('x'.repeat(5_000)), from('1.1.1.1')])).toEqual([
      200, 429, 200,
    ])
  })
})

describe('a player', () => {
  test('has one count, from any network address and in any letter case', async () => {
    await start({ playerPerMinute: 2 })

    expect(await statuses([by(ANN), by(ANN.toUpperCase()), by(BOB)])).toEqual([200, 200, 200])
    const refused = await by(ANN)()

    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '60' },
      body: { code: 'too_many_requests', data: { retry_after_s: 60 } },
    })
    expect(refused.body).toMatchObject({
      error: 'Too many requests from this player: 2 a minute are allowed. Wait 60 seconds.',
    })
  })

  test('and the network address: the headers show the stricter count', async () => {
    await start({ clientPerMinute: 6, playerPerMinute: 2 })

    const seen: unknown[] = []
    for (const send of [by(ANN), by(ANN), by(ANN), by(BOB), by(BOB)]) seen.push(limitHeaders(await send()))

    expect(seen).toEqual([
      ['2', '1', '60'],
      ['2', '0', '60'],
      ['2', '0', '60'],
      ['2', '1', '60'],
      ['2', '0', '60'],
    ])
    vi.setSystemTime(REFERENCE_TIME_MS + 10 * SECOND_MS)
    expect(limitHeaders(await by('0xcc')()), 'the last one of this network address').toEqual(['6', '0', '50'])
  })
})
