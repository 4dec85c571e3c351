import Fastify from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { databaseUnavailable } from '../db/statement-error.ts'
import { AppError, internalError } from '../errors.ts'
import { handleError } from './error-handler.ts'

const lines: string[] = []
afterEach(() => lines.splice(0))

/** The status of the answer to a failure, and the lines of the log about it. */
async function answerTo(error: Error) {
  const stream = { write: (line: string) => void lines.push(line) }
  const app = Fastify({ logger: { level: 'warn', stream } })
  app.setErrorHandler(handleError)
  app.get('/', () => Promise.reject(error))
  const { statusCode } = await app.inject({ url: '/' })
  await app.close()
  return [statusCode, lines.splice(0).map((line) => JSON.parse(line).msg)]
}

function rehearsed({ code, message, data, cause }: AppError): AppError {
  const marked = new AppError(code, message, { ...data, rehearsal: true })
  marked.cause = cause
  return marked
}

test('the log has every failure of this side, also one that has an error code', async () => {
  expect(await answerTo(new Error('a fault'))).toEqual([500, ['Something went wrong on our side.']])
  expect(await answerTo(internalError())).toEqual([500, ['Something went wrong on our side.']])
  expect(await answerTo(databaseUnavailable('no route'))).toEqual([503, ['The database did not answer.']])
  expect(await answerTo(new AppError('event_not_found', 'There is none.'))).toEqual([404, []])
})

test('the log does not have what a rehearsal asked for, and has a database that fails in one', async () => {
  expect(await answerTo(rehearsed(internalError()))).toEqual([500, []])
  expect(await answerTo(rehearsed(new AppError('database_unavailable', 'As asked for.')))).toEqual([503, []])
  expect(await answerTo(rehearsed(databaseUnavailable('no route')))).toEqual([
    503,
    ['The database did not answer.'],
  ])
})
