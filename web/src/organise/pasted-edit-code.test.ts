import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEvent } from './event-id.ts'
import { withoutEditCode } from './pasted-edit-code.ts'

const OWN_CODE = '0123456789abcdef0123456789abcdef'
const UUID = 'abcdef12-0000-4000-8000-123456789012'

test.each([
  ['Event ID: 90001\nEdit code: 012345', '012345'],
  ['Event ID: 90001\r\nEdit Code: 012 345\r\n', '012345'],
  ['Event ID: 90001 Edit code: 012345', '012345'],
  ['Event ID: 90001Edit code: 012345', '012345'],
  ['Edit code: 012-345 Event ID: 90001', '012345'],
  ['Edit code:\n 012345\n90001', '012345'],
  ['Edit code: 012345, Event ID: 90001', '012345'],
  ['９０００１　Ｅｄｉｔ　ｃｏｄｅ：０１２３４５', '012345'],
  [`90001 edit code ${OWN_CODE}`, OWN_CODE],
  [`90001, edit-code=${OWN_CODE.toUpperCase()}`, OWN_CODE],
  ['90001 012345', '012345'],
  [' #９０００１，０１２３４５\n', '012345'],
  ['90001\n012-345', '012345'],
  ['90001 012 345', '012345'],
  [`90001 / ${OWN_CODE.toUpperCase()}`, OWN_CODE],
  ['Event 90001 012345', '012345'],
  ['Event ID: 90001, 012 345', '012345'],
  ['Événement #90001 012345', '012345'],
  ['90 001 012345', '012345'],
  ['90.001\n012-345', '012345'],
  [`Event 90 001 ${OWN_CODE}`, OWN_CODE],
  ['Event ID: 90001\nEdit code: orchard-feast', undefined],
  ['Edit code: orchard-feast Event ID: 90001', undefined],
  ['90001 edit code: 01234', undefined],
])('of %j the event and the edit code %j are taken', (pasted, editCode) => {
  const found = withoutEditCode(pasted, '')
  expect(found?.editCode).toBe(editCode)
  expect(readEvent(found!.rest)).toEqual({ kind: 'event', name: '90001' })
})

test.each([
  '90001',
  '',
  'edit code',
  'Edit code: ',
  'https://poap.gallery/event/90001',
  'credit codes: 7',
  '90001 90002',
  '90001 01234',
  '90001 0123456',
  '90 001 234',
  '900 123',
  '123456',
  '90-001-234',
  '1-234-567',
  '2026-112026',
  '90001-012345',
  '90001–012345',
  '90001/012345',
  '90 001 012 345',
  'Event 180426',
  'Event 90 001 234',
  '#90 001 234',
  UUID,
  `Event ${UUID}`,
  OWN_CODE,
])('%j has no edit code', (pasted) => {
  expect(withoutEditCode(pasted, '')).toBeUndefined()
})

test.each([
  [`${UUID} 012345`, '012345'],
  [`Event: ${UUID}, ${OWN_CODE}`, OWN_CODE],
])('of %j the uuid and the edit code are taken', (pasted, editCode) => {
  expect(withoutEditCode(pasted, '')).toEqual({ rest: UUID, editCode })
})

test('six digits, which may be an event id, do not replace the edit code that is held', () => {
  expect(withoutEditCode('180426 180427', '012345')).toBeUndefined()
  expect(withoutEditCode('20261123 190000', OWN_CODE)).toBeUndefined()
})

test('an edit code that cannot be an event id replaces the held one, and the same one is hidden again', () => {
  expect(withoutEditCode(`90001 ${OWN_CODE}`, '012345')?.editCode).toBe(OWN_CODE)
  expect(withoutEditCode('90001 edit code 054321', '012345')?.editCode).toBe('054321')
  expect(withoutEditCode('90001 012 345', '012345')).toEqual({ rest: '90001', editCode: '012345' })
})

test('no edit code stays in the text of the event, whatever it is', () => {
  const word = fc.string({ unit: fc.constantFrom(...'ghijk012-_.'), minLength: 6, maxLength: 40 })
  const between = fc.constantFrom('\n', ' ', '', ' - ', ', ')
  fc.assert(
    fc.property(fc.integer({ min: 10_000_000 }), word, between, (id, code, gap) => {
      const found = withoutEditCode(`Event ID: ${id}${gap}Edit code: ${code}`, '')

      expect(found?.rest).not.toContain(code)
      expect(found?.rest).toContain(String(id))
    }),
    { seed: 17 },
  )
})
