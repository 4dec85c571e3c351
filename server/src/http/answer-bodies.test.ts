import { once } from 'node:events'
import http from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type {} from '@fastify/compress'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, BARE_JSON, type BodyPieces, DATA, DOCUMENT, type Format, streamed } from './answer.ts'
import { CompressedBodies } from './compressed-bodies.ts'
import { Metrics } from './metrics.ts'
import { send } from './send.ts'
import { createServer } from './server.ts'

/** Each kind of body, requested in each way, over the network. */

const FRESHNESS = { tag: 'abc.1', changedAtMs: Date.parse('2026-11-20T10:00:00.750Z') }
const TEXT = JSON.stringify(Array.from({ length: 3_000 }, (_, i) => `value ${i}`))
const ENVELOPED = `{"ok":true,"data":${TEXT}}`
const IMAGE: Format = { contentType: 'image/png', hasVaryHeader: false }

const bodies = new CompressedBodies()
/** How often a body was begun. */
let made = 0
let isBroken = false

/** Large ones are written as they are, small ones are joined. */
const PIECE_LENGTHS = [1, 3_000, 700, 20, 2_000, 1_500, 3]

/** Text in pieces; counted when the first of them is taken. */
function* pieces(): BodyPieces & Generator<Uint8Array> {
  made++
  let at = 0
  for (let i = 0; at < TEXT.length; i++) {
    if (isBroken && at > 20_000) throw new Error('no more of it')
    const length = PIECE_LENGTHS[i % PIECE_LENGTHS.length]!
    yield Buffer.from(TEXT.slice(at, at + length))
    at += length
  }
}

function counted<Body>(body: Body): Body {
  made++
  return body
}

interface Kind extends Omit<Answer, 'freshness'> {
  readonly name: string
  readonly text: string
  /** Whether the answer to HEAD has a `content-length`, for which the body has to be made. */
  readonly hasLength: boolean
  /** Whether each compressed form is made only once. */
  readonly isCached: boolean
}

const plain = { hasLength: true, isCached: false }
const KINDS: readonly Kind[] = [
  { ...plain, name: 'text', text: ENVELOPED, format: DATA, body: () => counted(TEXT) },
  { ...plain, name: 'pieces', text: ENVELOPED, format: DATA, body: pieces },
  { ...plain, name: 'promise', text: ENVELOPED, format: DATA, body: async () => counted(TEXT) },
  { ...plain, name: 'bare', text: TEXT, format: BARE_JSON, body: () => counted(TEXT) },
  {
    name: 'streamed',
    text: ENVELOPED,
    format: DATA,
    hasLength: false,
    isCached: false,
    body: () => streamed(pieces, 1),
  },
  {
    name: 'cached',
    text: ENVELOPED,
    format: DATA,
    hasLength: false,
    isCached: true,
    body: () => streamed(pieces, 1, { bodies, name: 'cached' }),
  },
  {
    name: 'shared',
    text: TEXT,
    format: { contentType: 'application/vnd.test' },
    hasLength: true,
    isCached: true,
    body: () => bodies.small('shared', 'abc.1', () => counted(Buffer.from(TEXT))),
  },
]

let server: FastifyInstance
let port: number

beforeAll(async () => {
  const settings = { logLevel: 'silent', requestTimeoutMs: 10_000, trustedProxies: [] } as const
  server = await createServer({ ...settings, metrics: new Metrics() })
  for (const { name, format, body } of KINDS) {
    server.get(`/${name}`, (request, reply) => send(request, reply, { freshness: FRESHNESS, format, body }))
  }
  server.get('/undated', (request, reply) => {
    const freshness = { tag: 'page', cacheControl: 'no-cache' }
    return send(request, reply, { freshness, format: DOCUMENT, body: () => '{}' })
  })
  server.get('/image', { compress: false }, (request, reply) =>
    send(request, reply, { freshness: FRESHNESS, format: IMAGE, body: () => counted(Buffer.alloc(2_000)) }),
  )
  server.get<{ Params: { cost: string } }>('/costly/:cost', (request, reply) => {
    const body = () => streamed(pieces, Number(request.params.cost))
    return send(request, reply, { freshness: FRESHNESS, format: DATA, body })
  })
  server.get('/growing', (request, reply) => {
    const body = () => streamed(pieces, 1, { bodies, name: `growing ${request.url}` })
    return send(request, reply, { freshness: FRESHNESS, format: DATA, body })
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  port = (server.server.address() as { port: number }).port
})

afterAll(() => server.close())

beforeEach(() => {
  made = 0
  isBroken = false
})

async function ask(path: string, headers: http.OutgoingHttpHeaders = {}, method = 'GET') {
  const request = http.request({ port, path, method, headers, agent: false }).end()
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const body = Buffer.concat(await response.toArray())
  return { status: response.statusCode, headers: response.headers, body }
}

function unpacked(body: Buffer, encoding: string | undefined): string {
  if (encoding === 'br') return brotliDecompressSync(body).toString()
  return (encoding === 'gzip' ? gunzipSync(body) : body).toString()
}

describe.each(KINDS)('$name', ({ name, text, format, hasLength, isCached }) => {
  test.each([
    { accept: 'identity', encoding: undefined },
    { accept: 'gzip', encoding: 'gzip' },
    { accept: 'gzip, deflate, br', encoding: 'br' },
  ])('GET of a client that accepts $accept', async ({ accept, encoding }) => {
    const isCompressed = encoding !== undefined && (isCached || format.contentType.includes('json'))
    for (const _again of [1, 2]) {
      const { status, headers, body } = await ask(`/${name}`, { 'accept-encoding': accept })
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        'content-type': format.contentType,
        'cache-control': 'public, no-cache',
        'last-modified': 'Fri, 20 Nov 2026 10:00:00 GMT',
        vary: 'accept-encoding',
        etag: isCompressed ? `"abc.1;${encoding}"` : '"abc.1"',
      })
      expect(headers['content-encoding']).toBe(isCompressed ? encoding : undefined)
      expect(unpacked(body, headers['content-encoding'])).toBe(text)
    }
    if (isCached && isCompressed) expect(made).toBeLessThan(2)
  })

  test('HEAD has the headers of GET and no body; a streamed body is not made for it', async () => {
    for (const accept of ['identity', 'br']) {
      const get = await ask(`/${name}`, { 'accept-encoding': accept })
      made = 0
      const head = await ask(`/${name}`, { 'accept-encoding': accept }, 'HEAD')
      expect([head.status, head.body.length]).toEqual([200, 0])
      const names = ['content-type', 'content-encoding', 'etag', 'vary', 'last-modified', 'cache-control']
      for (const header of [...names, ...(hasLength ? ['content-length'] : [])])
        expect(head.headers[header], header).toBe(get.headers[header])
      if (hasLength && accept === 'identity')
        expect(head.headers['content-length']).toBe(String(Buffer.byteLength(text)))
      if (!hasLength) expect(made).toBe(0)
    }
  })

  test('a copy is confirmed by its ETag, in any encoding, or by its date, before a body is made', async () => {
    for (const [headers, etag] of [
      [{ 'if-none-match': '"abc.1"' }, '"abc.1"'],
      [{ 'if-none-match': 'W/"abc.1;br"', 'accept-encoding': 'br' }, '"abc.1;br"'],
      [{ 'if-none-match': '"x", "abc.1;gzip"' }, '"abc.1;gzip"'],
      [{ 'if-modified-since': 'Fri, 20 Nov 2026 10:00:00 GMT' }, '"abc.1"'],
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await ask(`/${name}`, headers, method)
        expect([answer.status, answer.headers.etag, answer.body.length]).toEqual([304, etag, 0])
        expect(answer.headers.vary).toBe('accept-encoding')
      }
    }
    expect(made).toBe(0)
    // If-None-Match has priority over If-Modified-Since.
    const other = { 'if-none-match': '"other"', 'if-modified-since': 'Fri, 20 Nov 2026 10:00:00 GMT' }
    expect((await ask(`/${name}`, other)).status).toBe(200)
  })
})

test('an answer without a time has no Last-Modified, and a format may leave out the header vary', async () => {
  const { headers } = await ask('/undated')
  expect(headers).toMatchObject({ etag: '"page"', 'cache-control': 'no-cache' })
  expect([headers['last-modified'], headers.vary]).toEqual([undefined, undefined])

  expect((await ask('/undated', { 'if-modified-since': 'Fri, 20 Nov 2099 10:00:00 GMT' })).status).toBe(200)
  const confirmed = await ask('/undated', { 'if-none-match': '"page"' })
  expect([confirmed.status, confirmed.headers.vary]).toEqual([304, undefined])
})

test.each([
  { cost: 450, accept: 'gzip', encoding: 'gzip' },
  { cost: 451, accept: 'gzip', encoding: undefined },
  { cost: 450, accept: 'gzip, br', encoding: 'br' },
  { cost: 451, accept: 'gzip, br', encoding: undefined },
])('a body of $cost units for one client that accepts $accept is $encoding', async (given) => {
  const accepting = { 'accept-encoding': given.accept }
  const { headers, body } = await ask(`/costly/${given.cost}`, accepting)
  expect(headers['content-encoding']).toBe(given.encoding)
  expect(headers).toMatchObject({
    vary: 'accept-encoding',
    etag: given.encoding ? `"abc.1;${given.encoding}"` : '"abc.1"',
  })
  expect(unpacked(body, given.encoding)).toBe(ENVELOPED)
  const head = await ask(`/costly/${given.cost}`, accepting, 'HEAD')
  expect([head.headers.etag, head.headers['content-encoding']]).toEqual([headers.etag, given.encoding])
})

test('an image is sent uncompressed', async () => {
  const { headers, body } = await ask('/image', { 'accept-encoding': 'br' })
  expect(headers).toMatchObject({ 'content-type': 'image/png', etag: '"abc.1"', 'content-length': '2000' })
  expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined])
  expect(body).toEqual(Buffer.alloc(2_000))
})

test('clients share a body that is being made, and later clients get its length', async () => {
  const accepting = { 'accept-encoding': 'gzip' }
  const early = await Promise.all([ask('/growing?a', accepting), ask('/growing?a', accepting)])
  const late = await ask('/growing?a', accepting)

  expect(made).toBe(1)
  for (const { body } of [...early, late]) expect(gunzipSync(body).toString()).toBe(ENVELOPED)
  expect(late.headers['content-length']).toBe(String(late.body.length))
})

test('a body that fails before its first byte is an error, and is made again for the next client', async () => {
  isBroken = true
  const accepting = { 'accept-encoding': 'br' }
  for (const headers of [accepting, {}]) {
    const failed = await ask('/growing?b', headers)
    expect(failed.status).toBe(500)
    expect(JSON.parse(failed.body.toString())).toMatchObject({ ok: false, code: 'internal_error' })
    expect([failed.headers['content-encoding'], failed.headers.etag]).toEqual([undefined, undefined])
  }

  isBroken = false
  const { body } = await ask('/growing?b', accepting)
  expect(brotliDecompressSync(body).toString()).toBe(ENVELOPED)
})
