import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arrayJson, decimalJson, digitsJson, isoJson, plainJson, textJson } from './json.ts'

test('the examples hold', () => {
  expect(textJson('a "b"')).toBe('"a \\"b\\""')
  expect(decimalJson('1.123456789012345678')).toBe('1.123456789012345678')
  expect(isoJson(0)).toBe('"1970-01-01T00:00:00.000Z"')
})

test('null is null in every form', () => {
  expect([textJson(null), plainJson(null), digitsJson(null), decimalJson(null)]).toEqual(
    Array(4).fill('null'),
  )
  expect([textJson(''), digitsJson(0)]).toEqual(['""', '"0"'])
})

test('any text survives, and arrays of pieces are arrays', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (texts) => {
      expect(JSON.parse(arrayJson(texts.map(textJson)))).toEqual(texts)
    }),
  )
})
