import fc from 'fast-check'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { DATA, send } from './answer.ts'
import { encodedTag } from './validators.ts'

const FRESHNESS = { tag: 'abc.1.7', changedAtMs: Date.parse('2026-11-20T10:00:00.750Z') }

function ask(headers: Record<string, string>) {
  const sent = { status: 200, headers: {} as Record<string, unknown>, body: undefined as unknown, made: 0 }
  const reply = {
    header(name: string, value: unknown) {
      sent.headers[name] = value
      return reply
    },
    headers(values: Record<string, unknown>) {
      Object.assign(sent.headers, values)
      return reply
    },
    code(status: number) {
      sent.status = status
      return reply
    },
    send(body?: Buffer) {
      sent.body = body?.toString()
      return reply
    },
  }
  const body = () => {
    sent.made++
    return [Buffer.from('[1]')]
  }
  const answer = { freshness: FRESHNESS, format: DATA, body }
  send({ headers } as unknown as FastifyRequest, reply as unknown as FastifyReply, answer)
  return sent
}

test('data are sent in the envelope, with their validators', () => {
  const { status, headers, body } = ask({})

  expect([status, body]).toEqual([200, '{"ok":true,"data":[1]}'])
  expect(headers).toEqual({
    etag: '"abc.1.7"',
    'last-modified': 'Fri, 20 Nov 2026 10:00:00 GMT',
    'cache-control': 'public, no-cache',
    vary: 'accept-encoding',
    'content-type': 'application/json; charset=utf-8',
  })
})

test('a current copy is confirmed by its own ETag, without making the data', () => {
  for (const [known, confirmed] of [
    ['"abc.1.7"', '"abc.1.7"'],
    ['"x", W/"abc.1.7;br"', '"abc.1.7;br"'],
    ['"abc.1.7;gzip","abc.1.7"', '"abc.1.7;gzip"'],
    ['*', '"abc.1.7"'],
  ] as const) {
    const { status, headers, made, body } = ask({ 'if-none-match': known })
    expect([status, headers.etag, made, body]).toEqual([304, confirmed, 0, undefined])
  }
})

test('an answer that the client wants only with another ETag is refused before it is made', () => {
  for (const wanted of ['"abc.1.7"', '"x", "abc.1.7;br"', '*'])
    expect(ask({ 'if-match': wanted }).status).toBe(200)
  expect(ask({ 'if-match': '"abc.1.7"', 'if-none-match': '"abc.1.7"' }).status).toBe(304)

  for (const wanted of ['"abc.1.6"', 'W/"abc.1.7"', 'abc.1.7', ''])
    expect(() => ask({ 'if-match': wanted }), wanted).toThrow('another ETag than If-Match names')
})

test('no other ETag confirms a copy', () => {
  const other = fc.oneof(
    fc.string(),
    fc.constantFrom('"abc.1.70"', '"abc.1.7', 'abc.1.7', '"xabc.1.7"', '"abc.1.7;zstd"'),
  )
  fc.assert(
    fc.property(other, (known) => {
      fc.pre(known.trim() !== '*' && !known.includes('"abc.1.7"'))
      expect(ask({ 'if-none-match': known }).status).toBe(200)
    }),
  )
})

test('a date confirms a copy, to the second', () => {
  const status = (since: string) => ask({ 'if-modified-since': since }).status

  expect(status('Fri, 20 Nov 2026 10:00:00 GMT')).toBe(304)
  expect(status('Fri, 20 Nov 2026 09:59:59 GMT')).toBe(200)
  expect(status('some day')).toBe(200)
})

test('each encoding has its own ETag', () => {
  expect(encodedTag('"abc"', 'br')).toBe('"abc;br"')
})
