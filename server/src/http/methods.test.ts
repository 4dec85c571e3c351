import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Metrics } from './metrics.ts'
import { createServer } from './server.ts'

let app: FastifyInstance
beforeEach(async () => {
  const settings = { logLevel: 'silent', requestTimeoutMs: 5_000, trustedProxies: [] } as const
  app = await createServer({ ...settings, metrics: new Metrics() })
  app.get('/both', async () => 'read')
  app.post('/both', async () => 'written')
  app.post('/only/:id', async () => 'written')
})
afterEach(() => app.close())

test('an address refuses methods that it does not have and lists those that it has', async () => {
  const ask = async (method: string, url: string) => {
    const { statusCode, headers } = await app.inject({ method: method as 'GET', url })
    return [statusCode, headers.allow]
  }

  expect(await ask('GET', '/both')).toEqual([200, undefined])
  expect(await ask('POST', '/both')).toEqual([200, undefined])
  for (const method of ['DELETE', 'PROPFIND', 'LOCK'])
    expect(await ask(method, '/both?query=1')).toEqual([405, 'GET, HEAD, POST, OPTIONS'])
  expect(await ask('GET', '/only/1')).toEqual([405, 'POST, OPTIONS'])
  expect(await ask('HEAD', '/only/1/')).toEqual([405, 'POST, OPTIONS'])
  for (const method of ['PUT', 'PROPFIND']) expect(await ask(method, '/none')).toEqual([404, undefined])
})

describe('OPTIONS', () => {
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
