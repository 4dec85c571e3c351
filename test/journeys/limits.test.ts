import http from 'node:http'
import net from 'node:net'
import { MINUTE_MS, SECOND_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import {
  MADE_BYTES_PER_UNIT,
  READY_ANSWER_UNITS,
  SENT_BYTES_PER_UNIT,
} from '@landpass/server/http/cost-account'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { openApiOf } from '@landpass/server/test/support/http/openapi'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { importWorld } from '@landpass/server/test/support/land/worlds'
import { Random } from '@landpass/simulators/random'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chargedUnits, isSearched, knownValues } from '../../faults/cost-search.ts'
import { addressOf, RequestMaker, readRoutes } from '../../faults/request-maker.ts'

const KIB = 1024
const REQUEST_TIMEOUT_MS = SECOND_MS
/** How much later than REQUEST_TIMEOUT_MS a slow request may be cut off. */
const TOLERANCE_MS = MINUTE_MS

const open = freshEngine('postgres')
let server: LandServer

beforeAll(async () => {
  const engine = await open()
  await importWorld(engine.db, await demoSnapshot(1, 8), SYSTEM_CLOCK)
  server = await startLandServer(engine, testClock(), { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) })
})

afterAll(() => server.close())

describe('an invalid request', () => {
  test.each([
    [
      'headers over 16 KiB',
      `GET /districts HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(17 * KIB)}\r\n\r\n`,
      431,
    ],
    ['an address over 16 KiB', `GET /${'x'.repeat(17 * KIB)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ['no HTTP at all', 'hello, is this the server?\r\n\r\n', 400],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
    ['two lengths', 'POST /map HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['a broken length', 'POST /map HTTP/1.1\r\nHost: a\r\nContent-Length: ten\r\n\r\n', 400],
    ['a header without a name', 'GET /districts HTTP/1.1\r\nHost: a\r\n: nothing\r\n\r\n', 400],
    [
      'a part of the address that is too long',
      `GET /estates/${'9'.repeat(3000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      400,
    ],
    ['a broken percent sign', 'GET /estates/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ])('gets an answer of our own shape: %s', async (_what, request, status) => {
    const { head, body } = parse(await say(request))

    expect(head).toContain(`HTTP/1.1 ${status} `)
    expect(head.toLowerCase()).toContain('content-type: application/json; charset=utf-8')
    expect(head.toLowerCase()).toMatch(/^x-request-id: [\w.:-]+$/m)
    expect(head.toLowerCase()).toContain('access-control-allow-origin: *')
    expect(JSON.parse(body)).toEqual({
      ok: false,
      error: expect.stringMatching(/\S.*\.$/),
      code: status === 431 ? 'header_too_large' : 'bad_request',
      data: {},
    })
  })

  test('is cut off when it does not arrive in time', async () => {
    const startedMs = performance.now()

    const { head, body } = parse(await say('GET /districts HTTP/1.1\r\nHost: a\r\nX-Slow: '))

    const tookMs = performance.now() - startedMs
    expect(head).toContain('HTTP/1.1 408 ')
    expect(JSON.parse(body)).toMatchObject({ ok: false, code: 'request_timeout' })
    expect(tookMs).toBeGreaterThan(REQUEST_TIMEOUT_MS * 0.9)
    expect(tookMs).toBeLessThan(REQUEST_TIMEOUT_MS + TOLERANCE_MS)
  })

  test('is refused for its method whatever its body: no endpoint of today reads one', async () => {
    for (const bytes of [20, 64 * KIB, 64 * KIB + 1]) {
      const answer = await post('/v1/districts', bytes)
      expect(answer.status, `${bytes} bytes`).toBe(405)
      expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
      expect(await answer.json()).toMatchObject({ ok: false, code: 'method_not_allowed' })
    }
  })

  test('is refused where its body is larger than 64 KiB', async () => {
    const [largest, tooLarge] = [await post('/nowhere', 64 * KIB), await post('/nowhere', 64 * KIB + 1)]

    expect(largest.status).toBe(404)
    expect(tooLarge.status).toBe(413)
    expect(await tooLarge.json()).toMatchObject({ ok: false, code: 'body_too_large' })
  })

  test('does no harm: the next one is answered', async () => {
    expect((await server.get('/districts')).status).toBe(200)
  })
})

/** A short form of `npm run faults -- costs`. */
describe('what a request is charged', () => {
  const SEED = 7
  const PER_ROUTE = 3
  /** What was charged before: each scrape is the first of the next answer. */
  let before = 0
  beforeAll(async () => {
    before = (await chargedUnits(server.origin)).total
  })
  const costOf = async (path: string) => {
    const { status, bytes } = await server.ask('GET', path)
    const { total, ofScrape } = await chargedUnits(server.origin)
    const units = total - before - ofScrape
    before = total
    return { status, bytes: bytes.length, units }
  }

  test('every answer of every route is charged, and none is larger than its charge pays for', async () => {
    const known = await knownValues(server.origin)
    before = (await chargedUnits(server.origin)).total
    const routes = readRoutes(openApiOf(server.app.server), isSearched)
    expect(routes.length).toBeGreaterThan(40)
    for (const route of routes) {
      const maker = new RequestMaker(new Random(SEED).fork(route.path), known)
      for (let i = 0; i < PER_ROUTE; i++) {
        const path = addressOf(maker.make(route))
        const { units, bytes } = await costOf(path)
        const isShared = route.path === '/v2/feed'
        const bytesPerUnit = isShared ? SENT_BYTES_PER_UNIT : MADE_BYTES_PER_UNIT
        if (units < READY_ANSWER_UNITS || bytes > units * bytesPerUnit + 1)
          expect.fail(`${path}: ${bytes} bytes for ${units} units`)
      }
    }
  })

  test('a larger area costs more', async () => {
    for (const address of [
      (n: number) => `/v1/map?nw=-${n},${n}&se=${n},-${n}`,
      (n: number) => `/v1/parcels?nw=-${n},${n}&se=${n},-${n}`,
      (n: number) => `/v2/tiles?x1=-${n}&y1=-${n}&x2=${n}&y2=${n}`,
      (n: number) => `/v1/tiles?x1=-${n}&y1=-${n}&x2=${n}&y2=${n}`,
      (n: number) => `/map.png?width=${n * 100}&height=${n * 100}`,
      (n: number) => `/v2/map.png?width=${n * 500}&height=${n * 500}&size=5`,
      (n: number) => `/v2/estates/2/map.png?width=${n * 500}&height=${n * 500}&size=5.5`,
      (n: number) => `/v2/tiles?type=owned,unowned,road&x1=-${n}&y1=-${n}&x2=${n}&y2=${n}`,
    ]) {
      let previous = 0
      for (const size of [1, 2, 4, 8]) {
        const { status, units } = await costOf(address(size))
        expect(status, address(size)).toBe(200)
        expect(units, address(size)).toBeGreaterThan(previous)
        previous = units
      }
    }
  })
})

/** Every address of a server, with its parameters as 1, from the tree that the router prints: a child goes on where its parent ends. */
function addressesOf(tree: string): readonly string[] {
  const above: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = ''] = /^(.*)[├└]── (\S*) \(/.exec(line) ?? []
    if (part === '' || part === '*') return []
    const depth = indent.length / 4
    above.length = depth
    above.push(part)
    return above.join('').replaceAll(/:[\w|:]+/g, '1')
  })
}

test('every address has a cost or a limit for each method that it has, and checks of health have neither', async () => {
  const [script] = /\/pages\/[^"]+\.js/.exec((await server.get('/')).text)!
  // The files of a folder are one route, which the tree prints without an address
  const files = ['/docs/land', '/docs/none', '/docs//land', script, '/pages/none']
  const addresses = [...addressesOf(server.app.server.printRoutes({ commonPrefix: false })), ...files]
  const without = new Set<string>()
  for (const address of addresses)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      // With a query that no test has: an image that was drawn before at the same address is charged without the header
      const { status, headers } = await headOf(method, `${address}?of=this-test`)
      if (status !== 405 && headers['ratelimit-limit'] === undefined) without.add(`${method} ${address}`)
    }

  expect(addresses.length).toBeGreaterThan(150)
  expect(addresses).toEqual(expect.arrayContaining(['/', '/tokens/log', '/v2/changes']))
  const health = ['live', 'ready', 'ready/land', 'ready/attendance'].map((part) => `GET /health/${part}`)
  expect([...without].sort()).toEqual(health.sort())
})

/** Status and headers of an answer, whose body may have no end. */
function headOf(
  method: string,
  path: string,
): Promise<Pick<http.IncomingMessage, 'headers'> & { status: number }> {
  return new Promise((resolve, reject) => {
    const request = http.request(server.origin + path, { method }, (response) => {
      const { statusCode: status = 0, headers } = response
      resolve({ status, headers })
      if (path === '/v2/changes') response.destroy()
      else response.resume()
    })
    request.once('error', reject).end()
  })
}

test('the metrics have groups of routes, the land, the database and the process', async () => {
  await server.get('/v1/parcels/0/0')
  await server.get('/v1/parcels/999/0')

  const { text, headers } = await server.get('/metrics')

  expect(headers.get('content-type')).toContain('text/plain')
  for (const status of ['200', '4xx']) {
    const labels = `{group="parcels",status="${status}"}`
    expect(figure(text, `landpass_http_requests_total${labels}`)).toBeGreaterThanOrEqual(1)
  }
  expect(figure(text, 'landpass_http_request_duration_seconds_count')).toBeGreaterThanOrEqual(2)
  expect(figure(text, 'landpass_http_request_duration_seconds_sum')).toBeGreaterThan(0)
  expect(figure(text, 'landpass_http_request_seconds_total{group="parcels"}')).toBeGreaterThan(0)
  expect(figure(text, 'landpass_http_response_bytes_total{group="parcels"}')).toBeGreaterThan(500)
  expect(figure(text, 'landpass_land_revision')).toBe(1)
  expect(figure(text, 'landpass_database_connections_total')).toBeGreaterThan(0)
  expect(figure(text, 'landpass_database_connections_idle')).toBeGreaterThanOrEqual(0)
  expect(figure(text, 'landpass_database_connections_waiting')).toBe(0)
  expect(figure(text, 'process_resident_memory_bytes')).toBeGreaterThan(0)
  expect(figure(text, 'nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
})

test('an address that is no endpoint gets no metric of its own', async () => {
  for (let i = 0; i < 5; i++) await server.get(`/nowhere/${i}`)

  const { text } = await server.get('/metrics')

  expect(text).not.toContain('nowhere')
})

test('bodies that never change are compressed once: their length is known', async () => {
  for (const path of ['/docs/', '/docs/search.json', '/openapi.json', '/translations/ko', '/'])
    for (const encoding of ['br', 'gzip']) {
      const answer = await server.ask('GET', path, { headers: { 'accept-encoding': encoding } })
      const known = { 'content-encoding': encoding, 'content-length': String(answer.bytes.length) }
      expect(answer.headers, path).toMatchObject(known)
      expect(answer.headers.vary, path).toContain('accept-encoding')
      expect(answer.headers.etag, path).toMatch(new RegExp(`^"[\\w-]+;${encoding}"$`))
    }
})

/** Writes to the server and reads until it closes the connection. */
function say(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(server.origin)
    const socket = net.connect(Number(port), '127.0.0.1', () => socket.write(text, 'latin1'))
    let received = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk
    })
    socket.once('close', () => resolve(received))
    // A server that refuses a long request does not read its end
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
  })
}

function parse(answer: string): { head: string; body: string } {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { head: head.replaceAll('\r\n', '\n'), body }
}

function post(path: string, bytes: number): Promise<Response> {
  const empty = JSON.stringify({ text: '' })
  const body = JSON.stringify({ text: 'x'.repeat(bytes - empty.length) })
  return fetch(server.origin + path, { method: 'POST', body })
}

function figure(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  expect(line, `no figure ${name}`).toBeDefined()
  return Number(line?.slice(name.length))
}
