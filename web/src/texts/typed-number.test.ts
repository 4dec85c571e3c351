import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readNumber, writeNumber } from './typed-number.ts'

test.each([
  ['es', '10.000', '10000'],
  ['en', '5,000', '5000'],
  ['fr', '10\u202f000,5', '10000.5'],
  ['en-IN', '1,00,000', '100000'],
  ['es', '1.234.567,25', '1234567.25'],
  ['ko', '１，５００', '1500'],
  ['en', '6899,98', '6899.98'],
  ['es', '6899.98', '6899.98'],
  ['es', '0.125', '0.125'],
  ['en', '1.234.567', '1234567'],
  ['en', '10 000', '10000'],
  ['de-CH', '10’000', '10000'],
  ['en', ' 007 ', '007'],
])('in %s, “%s” is %s', (locale, typed, digits) => {
  expect(readNumber(typed, locale)).toBe(digits)
})

test.each([
  '',
  '.',
  ',5',
  '5.',
  '1e3',
  '-1',
  '1 00',
  '1.2.3',
  '1,234,5',
  '1,234.567,8',
  '1 000.000 000',
  'ten',
])('“%s” is no number', (typed) => {
  for (const locale of ['en', 'es']) expect(readNumber(typed, locale)).toBeUndefined()
})

test('a number that a page writes is read as the same number, in every language and with all its digits', () => {
  const locales = fc.constantFrom('en', 'es', 'fr', 'ko', 'zh', 'de-CH', 'en-IN')
  const numbers = fc.tuple(fc.nat(999_999_999), fc.stringMatching(/^(\.\d{0,17}[1-9])?$/))
  fc.assert(
    fc.property(locales, numbers, (locale, [whole, part]) => {
      const digits = `${whole}${part}`
      const shown = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 })

      expect(readNumber(writeNumber(digits, locale), locale)).toBe(digits)
      expect(readNumber(shown.format(whole), locale)).toBe(`${whole}`)
    }),
    { seed: 1, numRuns: 200 },
  )
})
