import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AppError, ERRORS } from './errors.ts'

test('an error has a code, a message, data, and the status of its code', () => {
  const error = new AppError('parcel_not_found', 'There is no parcel at 151,0.', { x: 151, y: 0 })

  expect(error).toMatchObject({
    name: 'AppError',
    code: 'parcel_not_found',
    status: 404,
    data: { x: 151, y: 0 },
  })
  expect(error.message).toBe('There is no parcel at 151,0.')
  expect(new AppError('not_found', 'Nothing.').data).toEqual({})
})

test('every code has a known HTTP status, and texts that are full sentences', () => {
  for (const [code, { status, meaning, next }] of Object.entries(ERRORS)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect([400, 401, 403, 404, 405, 408, 409, 412, 413, 417, 429, 431, 500, 502, 503], code).toContain(
      status,
    )
    for (const text of [meaning, next]) expect(text, code).toMatch(/^[A-Z].*\.$/)
  }
})

test('docs/errors.md names every error code, and no other', () => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^## `(\w+)`/gm)].map(([, code]) => code)

  expect(documented.sort()).toEqual(Object.keys(ERRORS).sort())
})
