import fc from 'fast-check'
import Fastify from 'fastify'
import { afterAll, expect, test, vi } from 'vitest'
import { DATA } from './answer.ts'
import { send } from './send.ts'
import { confirmedTag, encodedTag } from './validators.ts'

const FRESHNESS = { tag: 'abc.1.7', changedAtMs: Date.parse('2026-11-20T10:00:00.750Z') }

const app = Fastify()
let made = 0
app.get('/', (request, reply) => {
  const body = () => {
    made++
    return [Buffer.from('[1]')]
  }
  return send(request, reply, { freshness: FRESHNESS, format: DATA, body })
})
afterAll(() => app.close())

async function ask(headers: Record<string, string>) {
  made = 0
  const { statusCode, headers: answered, body } = await app.inject({ url: '/', headers })
  return { status: statusCode, headers: answered, body, made }
}

test('data are sent in the envelope, with their validators', async () => {
  const { status, headers, body } = await ask({})

  expect([status, body]).toEqual([200, '{"ok":true,"data":[1]}'])
  expect(headers).toMatchObject({
    etag: '"abc.1.7"',
    'last-modified': 'Fri, 20 Nov 2026 10:00:00 GMT',
    'cache-control': 'public, no-cache',
    vary: 'accept-encoding',
    'content-type': 'application/json; charset=utf-8',
    'content-length': '22',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
  })
})

test('a current copy is confirmed by its own ETag, without making the data', async () => {
  for (const [known, confirmed] of [
    ['"abc.1.7"', '"abc.1.7"'],
    ['"x", W/"abc.1.7;br"', '"abc.1.7;br"'],
    ['"abc.1.7;gzip","abc.1.7"', '"abc.1.7;gzip"'],
    ['*', '"abc.1.7"'],
  ] as const) {
    const { status, headers, made, body } = await ask({ 'if-none-match': known })
    expect([status, headers.etag, made, body]).toEqual([304, confirmed, 0, ''])
  }
})

test('a copy in an encoding that the client refuses is not confirmed', async () => {
  const tags = '"abc.1.7;br", "abc.1.7;gzip", "abc.1.7"'
  for (const [accepted, confirmed] of [
    ['identity', '"abc.1.7"'],
    ['gzip', '"abc.1.7;gzip"'],
    ['br;q=0, *', '"abc.1.7;gzip"'],
    ['*', '"abc.1.7;br"'],
  ] as const) {
    const { status, headers } = await ask({ 'if-none-match': tags, 'accept-encoding': accepted })
    expect([status, headers.etag], accepted).toEqual([304, confirmed])
  }
  expect((await ask({ 'if-none-match': '"abc.1.7;br"', 'accept-encoding': 'gzip' })).status).toBe(200)
})

test('Accept-Encoding is read once, however many tags are named', () => {
  const accepted = { toString: vi.fn(() => 'br;q=0,gzip') }
  const headers = {
    'if-none-match': Array(100).fill('"abc.1.7;br"').join(),
    'accept-encoding': accepted as unknown as string,
  }
  expect(confirmedTag({ headers }, FRESHNESS)).toBeUndefined()
  expect(accepted.toString).toHaveBeenCalledTimes(1)
})

test('an answer that the client wants only with another ETag is refused before it is made', async () => {
  for (const wanted of ['"abc.1.7"', '"x", "abc.1.7;br"', '*'])
    expect((await ask({ 'if-match': wanted })).status).toBe(200)
  expect((await ask({ 'if-match': '"abc.1.7"', 'if-none-match': '"abc.1.7"' })).status).toBe(304)

  for (const wanted of ['"abc.1.6"', 'W/"abc.1.7"', 'abc.1.7', '']) {
    const { body, made } = await ask({ 'if-match': wanted })
    expect(body, wanted).toContain('another ETag than If-Match names')
    expect(made).toBe(0)
  }
})

test('no other ETag confirms a copy', () => {
  const other = fc.oneof(
    fc.string(),
    fc.constantFrom('"abc.1.70"', '"abc.1.7', 'abc.1.7', '"xabc.1.7"', '"abc.1.7;zstd"'),
  )
  fc.assert(
    fc.property(other, (known) => {
      fc.pre(known.trim() !== '*' && !known.includes('"abc.1.7"'))
      expect(confirmedTag({ headers: { 'if-none-match': known } }, FRESHNESS)).toBeUndefined()
    }),
  )
})

test('a date confirms a copy, to the second', async () => {
  const status = async (since: string) => (await ask({ 'if-modified-since': since })).status

  expect(await status('Fri, 20 Nov 2026 10:00:00 GMT')).toBe(304)
  expect(await status('Fri, 20 Nov 2026 09:59:59 GMT')).toBe(200)
  expect(await status('some day')).toBe(200)
})

test('each encoding has its own ETag', () => {
  expect(encodedTag('"abc"', 'br')).toBe('"abc;br"')
})
