import { describe, expect, test } from 'vitest'
import { LandpassError, offlineError, refusalOf } from './errors.ts'
import type { TransportResponse } from './transport.ts'

const answer = (status: number, headers: Record<string, string> = {}): TransportResponse => ({
  status,
  headers,
  body: '',
})

describe('a refusal', () => {
  test('has the sentence, the code, the details, the wait and the request id of the server', () => {
    const headers = { 'retry-after': '7', 'x-request-id': 'r-1', 'content-type': 'application/json' }
    const body = {
      ok: false,
      error: 'Too many requests: at most 60 a minute.',
      code: 'too_many_requests',
      data: { limit: 60 },
    }

    const error = refusalOf(answer(429, headers), JSON.stringify(body))

    expect(error).toBeInstanceOf(LandpassError)
    expect(String(error)).toBe('LandpassError: Too many requests: at most 60 a minute.')
    expect({ ...error }).toEqual({
      name: 'LandpassError',
      code: 'too_many_requests',
      status: 429,
      data: { limit: 60 },
      retryAfterS: 7,
      requestId: 'r-1',
    })
  })

  test('that is a line of text has its code in the header', () => {
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-error-code': 'internal_error' }

    const error = refusalOf(answer(500, headers), 'Too many parcels.\n')

    expect([error.message, error.code, error.status]).toEqual(['Too many parcels.', 'internal_error', 500])
  })

  test.each([
    ['a page of a proxy', '<html>Bad gateway</html>'],
    ['JSON of another server', '{"message":"no"}'],
    ['JSON that is no object', 'null'],
    ['fields of other types', '{"error":1,"code":{},"data":"x"}'],
    ['nothing', ''],
  ])('by %s cannot be read, and says so', (_name, text) => {
    const error = refusalOf(answer(502), text)

    expect(String(error)).toBe('LandpassError: The server answered 502.')
    expect([error.code, error.status, error.data]).toEqual(['unreadable_answer', 502, {}])
  })

  test.each([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 30],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT', date: 'Wed, 21 Oct 2026 07:28:30 GMT' }, undefined],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, undefined],
  ])('with %j asks for a wait of %j seconds', (headers, seconds) => {
    expect(refusalOf(answer(503, headers as Record<string, string>), '').retryAfterS).toBe(seconds)
  })
})

test('a missing answer is the error offline, with its cause', () => {
  const cause = new TypeError('fetch failed')

  const error = offlineError(cause)

  expect(String(error)).toBe('LandpassError: The server could not be reached.')
  expect([error.code, error.status, error.cause]).toEqual(['offline', 0, cause])
})
