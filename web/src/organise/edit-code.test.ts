import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEditCode } from './edit-code.ts'

test.each([
  ['012345', '012345'],
  [' 012345\n', '012345'],
  ['012 345', '012345'],
  ['012-345', '012345'],
  ['０１２３４５', '012345'],
  ['０１２－３４５', '012345'],
  ['0\u200b12345', '012345'],
  ['Edit code: 012 345', '012345'],
  ['0123 4567 89AB cdef – 0123 4567 89ab cdef', '0123456789abcdef0123456789abcdef'],
  ['orchard-feast-2791', 'orchard-feast-2791'],
  [' my code: 7 ', 'my code: 7'],
  ['1234-5678', '1234-5678'],
  ['ＡＢＣ', 'ＡＢＣ'],
  ['', ''],
])('%j is the edit code %j', (typed, code) => {
  expect(readEditCode(typed)).toBe(code)
})

test('a code of digits is the same with blanks and dashes anywhere; any other text stays as it is', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 6, maxLength: 6 })
  const gaps = fc.array(fc.constantFrom('', ' ', '-', '–', '\u3000'), { minLength: 6, maxLength: 6 })
  const other = fc.string({ unit: fc.constantFrom(...'ghijkXYZ-_. '), maxLength: 64 })
  fc.assert(
    fc.property(digits, gaps, other, (code, between, text) => {
      expect(readEditCode([...code].map((digit, at) => digit + between[at]).join(''))).toBe(code)
      expect(readEditCode(text)).toBe(text.trim())
    }),
    { seed: 17 },
  )
})
