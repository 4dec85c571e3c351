import { once } from 'node:events'
import net from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError, type ErrorCode } from '../errors.ts'
import { BODY_LIMIT_BYTES } from './json-body.ts'
import { Metrics } from './metrics.ts'
import { createServer } from './server.ts'

let app: FastifyInstance
let origin: string

beforeAll(async () => {
  app = await createServer({
    logLevel: 'silent',
    requestTimeoutMs: 5_000,
    metrics: new Metrics(),
    trustedProxies: [],
  })
  app.post('/echo', (request, reply) => reply.send({ ok: true, data: request.body }))
  app.get<{ Querystring: Record<string, string> }>('/fail', ({ query }) => {
    const [[code, seconds] = []] = Object.entries(query)
    throw new AppError(code as ErrorCode, 'Wait.', seconds ? { retry_after_s: Number(seconds) } : {})
  })
  app.get('/fault', () => {
    throw new Error('select * from secrets')
  })
  app.get('/echo/:part/length', ({ params }) => ({ ok: true, data: params }))
  app.get('/echo/:part', ({ params }) => ({ ok: true, data: params }))
  app.get('/same', (_request, reply) => reply.code(304).send())
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
})

afterAll(() => app.close())

async function post(body: string, type = 'application/json', path = '/echo') {
  const response = await fetch(origin + path, { method: 'POST', body, headers: { 'content-type': type } })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('a body is read as JSON, for any content type', async () => {
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain', 'nonsense']) {
    expect(await post('{"a":1}', type)).toEqual({ status: 200, body: { ok: true, data: { a: 1 } } })
  }
})

test('a body of 64 KiB is read, one byte more is refused', async () => {
  const bodyOf = (bytes: number) => `{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}`

  expect((await post(bodyOf(BODY_LIMIT_BYTES))).status).toBe(200)
  expect(await post(bodyOf(BODY_LIMIT_BYTES + 1))).toMatchObject({
    status: 413,
    body: { code: 'body_too_large' },
  })
})

test('a body that is no JSON object is refused', async () => {
  for (const body of [
    '[1]',
    '"a"',
    '1',
    'null',
    '{',
    'editCode=1',
    `{"a":${'['.repeat(40)}${']'.repeat(40)}}`,
  ]) {
    expect(await post(body), body).toMatchObject({ status: 400, body: { ok: false, code: 'invalid_body' } })
  }
})

test('the message of an internal error is not sent to the client', async () => {
  const response = await fetch(`${origin}/fault`)

  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({
    ok: false,
    error: 'Something went wrong on our side.',
    code: 'internal_error',
    data: {},
  })
})

test('a scene of any origin may send the headers of a signed request', async () => {
  const asked = ['content-type', 'x-identity-timestamp', 'x-identity-metadata']
  for (let i = 0; i <= 5; i++) asked.push(`x-identity-auth-chain-${i}`)
  for (const method of ['POST', 'PATCH', 'GET']) {
    const { status, headers } = await fetch(`${origin}/echo`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://scene.example',
        'access-control-request-method': method,
        'access-control-request-headers': asked.join(','),
      },
    })

    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('access-control-allow-methods')).toBe('POST, OPTIONS')
    expect(headers.get('access-control-allow-headers')?.split(/, */)).toEqual(asked)
  }
})

test('the body of OPTIONS is ignored', async () => {
  for (const body of ['{}', 'nonsense', '[1]', 'x'.repeat(2_000)]) {
    const response = await fetch(`${origin}/echo`, { method: 'OPTIONS', body })

    expect(response.status, body.slice(0, 20)).toBe(204)
  }
})

test('429 and 503 say how long to wait', async () => {
  const answers = await Promise.all(
    ['too_many_guesses 899.2', 'presence_unavailable 3', 'presence_unavailable', 'wrong_captcha 3'].map(
      (failure) => fetch(`${origin}/fail?${failure.replace(' ', '=')}`),
    ),
  )

  expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
    [429, '900'],
    [503, '3'],
    [503, '5'],
    [403, null],
  ])
})

/** Sends raw bytes. @returns status, headers with names in lower case, and body */
async function sendRaw(text: string) {
  const socket = net.connect(Number(new URL(origin).port), '127.0.0.1')
  socket.write(text)
  const pieces: Buffer[] = []
  socket.on('data', (piece) => pieces.push(piece))
  await once(socket, 'close')
  const [head = '', body = ''] = Buffer.concat(pieces).toString().split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(': ')
      return [name.toLowerCase(), rest.join(': ')]
    }),
  )
  return { status: Number(statusLine.split(' ')[1]), headers, body: JSON.parse(body) as unknown }
}

const HOST = 'Host: landpass.example\r\n'

test.each([
  ['no Host header', 'GET /echo HTTP/1.1\r\n\r\n', 400, 'bad_request'],
  ['no Host header, with a body', 'POST /echo HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}', 400, 'bad_request'],
  ['two Host headers', `GET /echo HTTP/1.1\r\n${HOST}host: evil.example\r\n\r\n`, 400, 'bad_request'],
  ['the same Host header twice', `GET /nowhere HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400, 'bad_request'],
  ['an unknown Expect', `GET /echo HTTP/1.1\r\n${HOST}Expect: a miracle\r\n\r\n`, 417, 'expectation_failed'],
  [
    'an unknown Expect, while the body waits',
    `POST /echo HTTP/1.1\r\n${HOST}Expect: 200-ok\r\nContent-Length: 9\r\n\r\n`,
    417,
    'expectation_failed',
  ],
  ['a request line that is none', 'GET\r\n\r\n', 400, 'bad_request'],
  ['an unknown method', `BREW /echo HTTP/1.1\r\n${HOST}\r\n`, 400, 'bad_request'],
  ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
  ['a header without a colon', `GET /echo HTTP/1.1\r\n${HOST}nonsense\r\n\r\n`, 400, 'bad_request'],
  ['a length that is none', `POST /echo HTTP/1.1\r\n${HOST}Content-Length: two\r\n\r\n`, 400, 'bad_request'],
  [
    'too many headers',
    `GET /echo HTTP/1.1\r\n${HOST}x: ${'x'.repeat(17_000)}\r\n\r\n`,
    431,
    'header_too_large',
  ],
])(
  'a request that reaches no endpoint is refused in the form of all failures: %s',
  async (_what, text, status, code) => {
    const answer = await sendRaw(text)

    expect(answer.body).toEqual({ ok: false, error: expect.any(String), code, data: {} })
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-error-code': code,
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'x-request-id': expect.any(String),
      connection: 'close',
    })
  },
)

test('an address with an empty part is 404; a slash at its end changes nothing', async () => {
  const statusOf = async (path: string) =>
    (await sendRaw(`GET ${path} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`)).status

  for (const path of ['/echo//length', '/echo//', '//echo/a', '/echo/a//?x', 'http://a.example/echo//length'])
    expect(await statusOf(path), path).toBe(404)
  for (const path of ['/echo/a', '/echo/a/', '/echo/a?x=//', '/echo/%2F%2F', 'http://a.example/echo/a'])
    expect(await statusOf(path), path).toBe(200)
  const { status, body } = await post('{}', 'application/json', '//echo')
  expect([status, body.code]).toEqual([404, 'not_found'])
})

test('HTTP/1.0 needs no Host header', async () => {
  const answer = await sendRaw('POST /echo HTTP/1.0\r\nContent-Length: 7\r\n\r\n{"a":1}')

  expect([answer.status, answer.body]).toEqual([200, { ok: true, data: { a: 1 } }])
})

test('every answer has x-content-type-options: nosniff', async () => {
  for (const [method, path] of [
    ['POST', '/echo'],
    ['PUT', '/echo'],
    ['OPTIONS', '/echo'],
    ['HEAD', '/nowhere'],
    ['GET', '/nowhere'],
    ['GET', '/fault'],
    ['GET', '/same'],
    ['GET', '/%zz'],
  ]) {
    const { headers } = await fetch(origin + path, { method: method! })
    expect(headers.get('x-content-type-options'), `${method} ${path}`).toBe('nosniff')
  }
})
