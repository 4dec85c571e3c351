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
