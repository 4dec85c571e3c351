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
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
})

afterAll(() => app.close())

async function post(body: string, type = 'application/json') {
  const response = await fetch(`${origin}/echo`, { method: 'POST', body, headers: { 'content-type': type } })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('a body is read as JSON whatever its content type says', async () => {
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

test('what fails inside is told to nobody outside', async () => {
  const response = await fetch(`${origin}/fault`)

  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({
    ok: false,
    error: 'Something went wrong on our side.',
    code: 'internal_error',
    data: {},
  })
})

test('a scene may send what a signed request needs, from any origin', async () => {
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
    expect(headers.get('access-control-allow-methods')?.split(/, */)).toEqual([
      'GET',
      'HEAD',
      'POST',
      'PATCH',
    ])
    expect(headers.get('access-control-allow-headers')?.split(/, */)).toEqual(asked)
  }
})

test('an OPTIONS with a body does no harm', async () => {
  for (const body of ['{}', 'nonsense', '[1]', 'x'.repeat(2_000)]) {
    const response = await fetch(`${origin}/echo`, { method: 'OPTIONS', body })

    expect(response.status, body.slice(0, 20)).toBe(204)
  }
})

test('what asks for patience says for how long', async () => {
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
