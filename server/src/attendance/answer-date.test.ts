import fastify from 'fastify'
import { expect, test } from 'vitest'
import { dateAnswers } from './answer-date.ts'

const BEGIN_MS = Date.parse('2026-11-20T18:00:00Z')

test.each(['/slow', '/failing'])('an answer of %s has the time at which it is sent', async (url) => {
  let nowMs = BEGIN_MS
  const app = fastify()
  dateAnswers(app, { nowMs: () => nowMs })
  app.get('/slow', async () => {
    nowMs += 10_000
    return {}
  })
  app.get('/failing', async () => {
    nowMs += 10_000
    throw new Error('the issuer does not answer')
  })

  const { headers } = await app.inject(url)

  expect(headers.date).toBe('Fri, 20 Nov 2026 18:00:10 GMT')
  await app.close()
})

test('answers of one second have the same time, and those of the next, or of a clock that was set back, another one', async () => {
  let nowMs = BEGIN_MS
  const app = fastify()
  dateAnswers(app, { nowMs: () => nowMs })
  app.get('/', async () => ({}))
  const dateAt = async (timeMs: number) => {
    nowMs = timeMs
    return (await app.inject('/')).headers.date
  }

  expect(await dateAt(BEGIN_MS)).toBe('Fri, 20 Nov 2026 18:00:00 GMT')
  expect(await dateAt(BEGIN_MS + 999)).toBe('Fri, 20 Nov 2026 18:00:00 GMT')
  expect(await dateAt(BEGIN_MS + 1_000)).toBe('Fri, 20 Nov 2026 18:00:01 GMT')
  expect(await dateAt(BEGIN_MS - 1)).toBe('Fri, 20 Nov 2026 17:59:59 GMT')
  await app.close()
})
