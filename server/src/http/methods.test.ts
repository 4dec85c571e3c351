import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { handleError } from './error-handler.ts'
import { watchMethods } from './methods.ts'
import { Metrics } from './metrics.ts'
import { createServer } from './server.ts'

test('an address refuses methods that it does not have and lists those that it has', async () => {
  const app = Fastify()
  app.setErrorHandler(handleError)
  const addRefusals = watchMethods(app)
  app.get('/both', async () => 'read')
  app.post('/both', async () => 'written')
  app.post('/only/:id', async () => 'written')
  addRefusals()

  const ask = async (method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE', url: string) => {
    const { statusCode, headers } = await app.inject({ method, url })
    return [statusCode, headers.allow]
  }

  expect(await ask('GET', '/both')).toEqual([200, undefined])
  expect(await ask('POST', '/both')).toEqual([200, undefined])
  expect(await ask('DELETE', '/both')).toEqual([405, 'GET, HEAD, POST, OPTIONS'])
  expect(await ask('GET', '/only/1')).toEqual([405, 'POST, OPTIONS'])
  expect(await ask('HEAD', '/only/1')).toEqual([405, 'POST, OPTIONS'])
  expect((await ask('PUT', '/none'))[0]).toBe(404)
  await app.close()
})

describe('OPTIONS', () => {
  let app: FastifyInstance
  beforeEach(async () => {
    const settings = { logLevel: 'silent', requestTimeoutMs: 5_000, trustedProxies: [] } as const
    app = await createServer({ ...settings, metrics: new Metrics() })
    const addRefusals = watchMethods(app)
    app.get('/both', async () => 'read')
    app.post('/both', async () => 'written')
    app.post('/only/:id', async () => 'written')
    addRefusals()
  })
  afterEach(() => app.close())

  const PREFLIGHT = {
    origin: 'https://scene.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-identity-timestamp',
  }
  const ask = async (url: string, headers = {}) => app.inject({ method: 'OPTIONS', url, headers })

  test('answers with the methods of the address', async () => {
    for (const [url, allow] of [
      ['/both', 'GET, HEAD, POST, OPTIONS'],
      ['/only/1', 'POST, OPTIONS'],
    ]) {
      const { statusCode, headers, body } = await ask(url!)
      expect([statusCode, headers.allow, headers['content-length'], body]).toEqual([204, allow, '0', ''])
      expect(headers['access-control-allow-origin']).toBe('*')
    }
  })

  test('answers a CORS preflight with the same methods and allows the requested headers', async () => {
    const { statusCode, headers } = await ask('/only/1', PREFLIGHT)

    expect(statusCode).toBe(204)
    expect(headers).toMatchObject({
      allow: 'POST, OPTIONS',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'x-identity-timestamp',
      'access-control-max-age': '86400',
    })
  })

  test('of an unknown address is 404; a CORS preflight is 204, so that the page can read the 404 itself', async () => {
    const lost = await ask('/none')
    expect([lost.statusCode, lost.json().code]).toEqual([404, 'not_found'])
    expect(lost.headers['access-control-allow-origin']).toBe('*')

    const preflight = await ask('/none', PREFLIGHT)
    expect([preflight.statusCode, preflight.headers.allow]).toEqual([204, undefined])
    expect(preflight.headers['access-control-allow-methods']).toContain('POST')
  })
})
