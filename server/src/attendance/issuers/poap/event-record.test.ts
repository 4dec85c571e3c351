import { expect, test } from 'vitest'
import { publicRecord } from './event-record.ts'

test('edit code and e-mail address are left out at any depth and in any letter case', () => {
  const record = publicRecord({
    id: 90001,
    secret_code: '012345',
    Email: 'ann@example.org',
    drop_image: { email: 'ann@example.org', gateways: [{ url: 'https://x', SECRET_CODE: '012345' }] },
  })

  expect(record).toEqual({ id: 90001, drop_image: { gateways: [{ url: 'https://x' }] } })
})

test('characters that a database refuses in JSON are removed from texts and names', () => {
  const record = publicRecord({ name: 'a\0b', city: '\ud800x', 'x\0y': 1 })

  expect(record).toEqual({ name: 'ab', city: '\ufffdx', xy: 1 })
})

test('a field called __proto__ is a field like any other', () => {
  const record = publicRecord(JSON.parse('{"id":1,"__proto__":{"isAdmin":true}}'))

  expect(Object.keys(record ?? {})).toEqual(['id', '__proto__'])
  expect((record as { isAdmin?: boolean }).isAdmin).toBeUndefined()
})

test.each([[[]], ['text'], [7], [null], [undefined]])('%j is no event', (value) => {
  expect(publicRecord(value)).toBeUndefined()
})

test('an object with thousands of levels is no event', () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)

  expect(publicRecord(deep)).toBeUndefined()
})
