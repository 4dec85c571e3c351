import { readFileSync } from 'node:fs'
import { readCatalogue } from '@landpass/server/site/translations'
import { describeOnOneEngine, freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { lastingHeaders } from '@landpass/server/test/support/http/same-answers'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, hashOf } from '@landpass/server/test/support/land/land-rows'
import { VERSION } from '@landpass/server/version'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ADDRESS = addressOf('someone')
/** One address of every endpoint. */
const ENDPOINTS = [
  '/parcels',
  '/parcels/0/0',
  '/parcels/0',
  '/parcels/0/0/encodedId',
  '/parcels/0/0/bids',
  '/parcels/0,0/bids',
  '/parcels/0/0/publications',
  '/parcels/0,0/publications',
  '/parcels/0/0/mortgages',
  '/parcels/0,0/mortgages',
  '/estates',
  '/estates/2',
  '/estates/2/bids',
  '/estates/2/publications',
  '/marketplace',
  '/assets/0,0/bids',
  '/assets/0,0/publications',
  `/addresses/${ADDRESS}/parcels`,
  `/addresses/${ADDRESS}/estates`,
  `/addresses/${ADDRESS}/bids`,
  `/addresses/${ADDRESS}/contributions`,
  `/addresses/${ADDRESS}/mortgages`,
  `/bids/${ADDRESS}/assets`,
  `/mortgages/${ADDRESS}/parcels`,
  '/districts',
  '/map?nw=0,1&se=1,0',
  `/tiles/${ADDRESS}`,
  '/tiles/new?from=0',
  '/parcels/availableCount',
  '/translations/en',
] as const
const FAILING = [
  `/bids/${hashOf('none')}`,
  `/publications/${hashOf('none')}`,
  '/estates/0',
  '/map',
  '/nowhere',
] as const

describeOnOneEngine('the form of every answer', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: 10 })
  })
  afterAll(() => land.server.close())

  test('success is { ok, data }, with and without /v1, with and without a slash at the end', async () => {
    for (const path of ENDPOINTS) {
      const [bare = '', query] = path.split('?')
      const answers = [path, `/v1${path}`, `${bare}/${query ? `?${query}` : ''}`]
      const [first, ...others] = await Promise.all(answers.map((one) => land.server.get(one)))
      expect([first!.status, Object.keys(first!.body), first!.body.ok], path).toEqual([
        200,
        ['ok', 'data'],
        true,
      ])
      expect(first!.headers.get('content-type')).toBe('application/json; charset=utf-8')
      for (const other of others) {
        expect(other.text).toBe(first!.text)
        expect(other.headers.get('etag')).toBe(first!.headers.get('etag'))
      }
    }
  })

  test('a later request for an address is answered as the first, in every form', async () => {
    const images = [
      '/map.png?center=1,1',
      '/parcels/1/1/map.png',
      '/estates/2/map.png',
      '/tiles/3/1/1.png',
      '/minimap.png',
    ]
    const others = ['/v2/tiles?x1=0&x2=1&y1=0&y2=1', '/parcels?nw=0,1&se=1,0', '/marketplace?status=sold']
    const sameOf = ({ status, headers, bytes }: Awaited<ReturnType<typeof land.server.ask>>) =>
      [status, lastingHeaders(headers), bytes.toString('latin1')] as const
    for (const [i, path] of [...ENDPOINTS, ...images, ...others].entries()) {
      const asked = `${path}${path.includes('?') ? '&' : '?'}again=${i}`
      const first = await land.server.ask('GET', asked)
      const { etag } = first.headers
      const unchanged = { headers: { 'if-none-match': String(etag) } }
      const forms = [
        ['GET', {}],
        ['HEAD', {}],
        ['GET', unchanged],
        ['GET', { headers: { 'accept-encoding': 'br' } }],
      ] as const
      for (const [form, [method, options]] of forms.entries()) {
        const later = sameOf(await land.server.ask(method, asked, options))
        expect(later, asked).toEqual(sameOf(await land.server.ask(method, `${asked}-${form}`, options)))
        expect(later[0], asked).toBe(options === unchanged ? 304 : 200)
      }
    }
  })

  test('failure is { ok, error, code, data }, kept by no cache', async () => {
    for (const path of FAILING) {
      const answer = await land.server.get(path)
      expect(answer.status, path).toBeGreaterThanOrEqual(400)
      expect(Object.keys(answer.body)).toEqual(['ok', 'error', 'code', 'data'])
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('etag')).toBeNull()
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    }
    await land.refusal('/v2/parcels', 404, 'not_found')
    await land.refusal('/v1/v1/parcels', 404, 'not_found')
    const undecodable = await land.server.ask('GET', '/parcels/%E0%A4%A')
    expect([undecodable.status, JSON.parse(undecodable.bytes.toString()).code]).toEqual([400, 'bad_request'])
  })

  test('a failure is never answered with 304', async () => {
    const headers = { 'if-none-match': '*', 'if-modified-since': new Date(land.nowMs() + 1e9).toUTCString() }
    for (const path of ['/estates/0', '/map', '/nowhere', '/parcels/x/0'])
      expect((await land.server.get(path, headers)).status, path).toBeGreaterThanOrEqual(400)
  })

  test('HEAD is GET without a body', async () => {
    for (const path of [...ENDPOINTS, ...FAILING]) {
      const get = await land.server.ask('GET', path)
      const head = await land.server.ask('HEAD', path)
      expect([head.status, head.bytes.length], path).toEqual([get.status, 0])
      for (const name of ['etag', 'last-modified', 'content-type', 'content-length', 'vary'])
        expect(head.headers[name], `${name} of ${path}`).toBe(get.headers[name])
    }
  })

  test('OPTIONS answers everywhere, with what a browser asks for', async () => {
    const origin = { origin: 'https://scene.example' }
    const preflight = {
      ...origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'if-none-match, x-request-id',
    }
    for (const path of [...ENDPOINTS, ...FAILING]) {
      for (const headers of [{}, origin, preflight]) {
        const { status, headers: answered } = await land.server.ask('OPTIONS', path, { headers })
        const isKnown = path !== '/nowhere'
        expect(status, path).toBe(isKnown || headers === preflight ? 204 : 404)
        expect(answered['access-control-allow-origin']).toBe('*')
        expect(answered.allow).toBe(isKnown ? 'GET, HEAD, OPTIONS' : undefined)
        if (headers === preflight) expect(answered['access-control-allow-methods']).toContain('GET')
      }
      const { headers } = await land.server.ask('OPTIONS', path, { headers: preflight })
      expect(headers['access-control-allow-headers']).toContain('if-none-match')
    }
  })

  test('every origin may read, and see the headers that it needs', async () => {
    for (const path of [...ENDPOINTS, ...FAILING]) {
      const { headers } = await land.server.get(path, { origin: 'https://scene.example' })
      expect(headers.get('access-control-allow-origin'), path).toBe('*')
      const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(/, */)
      const needed = ['etag', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']
      expect(exposed, path).toEqual(expect.arrayContaining(needed))
    }
  })

  test('other methods are refused with a list of those that are allowed', async () => {
    for (const path of ENDPOINTS) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const prefix of ['', '/v1']) {
          const { status, headers, bytes } = await land.server.ask(method, prefix + path)
          expect([status, headers.allow], `${method} ${path}`).toEqual([405, 'GET, HEAD, OPTIONS'])
          expect(JSON.parse(bytes.toString())).toMatchObject({
            ok: false,
            code: 'method_not_allowed',
            data: { allowed: ['GET', 'HEAD', 'OPTIONS'] },
          })
        }
      }
    }
    const lost = await land.server.ask('POST', '/nowhere', { body: '{}' })
    expect(lost.status).toBe(404)
  })

  test('a body of any type is ignored where none is expected', async () => {
    for (const type of [
      'application/json',
      'application/x-www-form-urlencoded',
      'image/png',
      'nonsense',
      ';',
    ]) {
      const options = { headers: { 'content-type': type }, body: '{"editCode":"1"}' }
      expect((await land.server.ask('POST', '/parcels', options)).status, type).toBe(405)
    }
    for (const body of ['[1]', `{"a":"${'x'.repeat(70_000)}"}`]) {
      expect((await land.server.ask('POST', '/parcels', { body })).status, body.slice(0, 10)).toBe(405)
    }
  })

  test('a valid request id comes back, another one is replaced', async () => {
    for (const path of ['/parcels/0/0', '/estates/0', '/nowhere', '/parcels/x/0', '/health/live']) {
      const idFor = async (id: string) =>
        (await land.server.get(path, { 'x-request-id': id })).headers.get('x-request-id')
      for (const sane of ['abc', 'a'.repeat(64), '6f1c-22:b_1.2']) expect(await idFor(sane)).toBe(sane)
      const given = ['a'.repeat(65), 'a b', 'a"b', '<x>', 'é', '', 'a,b']
      const replaced = await Promise.all(given.map(idFor))
      for (const id of replaced) expect(id).toMatch(/^[\w-]{10,30}$/)
      expect(new Set(replaced).size).toBe(given.length)
    }
    const { headers } = await land.server.ask('GET', '/parcels', {
      headers: { 'if-none-match': '*', 'x-request-id': 'mine' },
    })
    expect(headers['x-request-id']).toBe('mine')
  })

  test('unknown query parameters are ignored by every endpoint', async () => {
    for (const path of ENDPOINTS) {
      const more = `${path}${path.includes('?') ? '&' : '?'}colour=red&colour=blue&__proto__=1`
      expect((await land.server.get(more)).text).toBe((await land.server.get(path)).text)
    }
  })

  test('openapi.json has the version of the package', async () => {
    const file = new URL('../../../server/package.json', import.meta.url)
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
    const { body } = await land.server.get('/openapi.json')
    expect(body).toMatchObject({ info: { version } })
  })

  test('openapi.json says of every call that takes a body that it may be too large', () => {
    const file = new URL('../../../server/openapi.json', import.meta.url)
    const { paths } = JSON.parse(readFileSync(file, 'utf8')) as {
      paths: Record<string, Record<string, { responses: object }>>
    }
    const writes = Object.entries(paths).flatMap(([path, calls]) =>
      Object.entries(calls).flatMap(([method, call]) => (method === 'get' ? [] : [{ path, ...call }])),
    )
    expect(writes.length).toBeGreaterThan(20)
    expect(writes.filter(({ responses }) => !('413' in responses)).map(({ path }) => path)).toEqual([])
  })

  test('an empty query parameter counts as absent: a form also sends its empty fields', async () => {
    const form = 'status=&asset_type=&sort_by=&sort_order=&limit=&offset='
    for (const path of ['/parcels', '/marketplace', '/estates/2/bids', `/addresses/${ADDRESS}/parcels`])
      expect((await land.server.get(`${path}?${form}`)).text, path).toBe((await land.server.get(path)).text)
  })

  test('every answer is what its content type says: nosniff', async () => {
    const { headers } = await land.server.ask('GET', '/map.png?width=64&height=64')
    for (const [path, asked] of [
      ['/', {}],
      ['/openapi.json', {}],
      ['/metrics', {}],
      ['/map.png?width=64&height=64', {}],
      ['/map.png?width=64&height=64', { 'if-none-match': headers.etag! }],
      ['/map.png?width=2048&height=2048&size=5', {}],
      ['/parcels/0/0', { 'if-none-match': '*' }],
      ...FAILING.map((failing) => [failing, {}] as const),
    ] as const) {
      const answer = await land.server.ask('GET', path, { headers: asked })
      expect(answer.headers['x-content-type-options'], `${answer.status} ${path}`).toBe('nosniff')
    }
  })

  test('health: alive, and ready with the revision', async () => {
    await land.expectData('/health/live', { status: 'live', version: VERSION })
    const { revision } = await land.server.data<{ revision: number }>('/health/ready')
    expect(revision).toBe(land.server.app.keeper.revision)
    await land.expectData('/health/ready/land', { status: 'ready', revision })
    const { bytes } = await land.server.ask('GET', '/metrics')
    expect(bytes.toString()).toContain(`landpass_land_revision ${revision}`)
  })
})

describe('translations', () => {
  const open = freshEngine('postgres')
  let server: LandServer
  beforeAll(async () => {
    server = await startLandServer(await open(), testClock())
  })
  afterAll(() => server.close())

  test('the five languages, flat, from key to text, without a world', async () => {
    for (const locale of ['en', 'es', 'fr', 'ko', 'zh'] as const) {
      const data = await server.data<Record<string, string>>(`/translations/${locale}`)
      expect(data).toEqual(readCatalogue(locale))
      expect(Object.keys(data).length).toBeGreaterThan(50)
      for (const text of Object.values(data)) expect(text).toBeTypeOf('string')
      expect(await server.data(`/v1/translations/${locale}`)).toEqual(data)
    }
  })

  test('a region is answered as its language', async () => {
    for (const [requested, locale] of [
      ['en-GB', 'en'],
      ['EN_us', 'en'],
      ['zh-Hant-TW', 'zh'],
      ['Es', 'es'],
    ] as const)
      expect(await server.data(`/translations/${requested}`)).toEqual(readCatalogue(locale))
  })

  test('another language is not found, and the five are listed', async () => {
    for (const requested of ['de', 'english', '__proto__', '-en', '%00', 'e', 'x'.repeat(200)]) {
      const { status, body } = await server.get(`/translations/${requested}`)
      expect([status, body.code, body.data]).toEqual([
        404,
        'locale_not_found',
        { locales: ['en', 'es', 'fr', 'ko', 'zh'] },
      ])
      expect(body.error).toContain('en, es, fr, ko, zh')
    }
  })

  test('their ETag depends on their text', async () => {
    const { headers } = await server.ask('GET', '/translations/ko')
    const again = (path: string) => server.ask('GET', path, { headers: { 'if-none-match': headers.etag! } })

    expect((await again('/translations/ko')).status).toBe(304)
    expect((await again('/v1/translations/ko-KR')).status).toBe(304)
    expect((await again('/translations/zh')).status).toBe(200)
  })

  test('without a world the land is not ready, and says when to come back', async () => {
    for (const path of [
      '/parcels',
      '/parcels/0/0',
      '/map?nw=0,1&se=1,0',
      '/districts',
      '/health/ready',
      '/health/ready/land',
    ]) {
      const { status, body, headers } = await server.get(path)
      expect([status, body.code, headers.get('retry-after')], path).toEqual([503, 'world_not_loaded', '5'])
    }
    expect((await server.get('/parcels/151/0')).status).toBe(400)
    expect((await server.get('/health/live')).status).toBe(200)
  })
})
