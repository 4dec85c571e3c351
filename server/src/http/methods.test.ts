import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { handleError } from './error-handler.ts'
import { watchMethods } from './methods.ts'

test('an address that has some methods refuses the others and says which it has', async () => {
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
