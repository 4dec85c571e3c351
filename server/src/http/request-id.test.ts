import { expect, test } from 'vitest'
import { requestId } from './request-id.ts'

const idFor = (given?: string | string[]) => requestId({ headers: { 'x-request-id': given as string } })

test('a safe id of the client is used', () => {
  for (const id of ['a', 'A-1_2.3:4', 'x'.repeat(64)]) expect(idFor(id)).toBe(id)
})

test('an id that could break a log line or a header is replaced by a new one', () => {
  const unsafe = [undefined, '', 'a b', 'a\nb', 'x'.repeat(65), 'é', '"', '{}', ['a', 'b']]
  const ids = unsafe.map((id) => idFor(id))

  expect(new Set(ids).size).toBe(unsafe.length)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-z]+$/)
})
