import fc from 'fast-check'
import { expect, test } from 'vitest'
import { beginOfFirstDayMs, endOfLastDayMs, parseIssuerDate } from './issuer-dates.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

test.each([
  ['07-Dec-2021', '2021-12-07'],
  ['7-Dec-2021', '2021-12-07'],
  ['18-feb-2022', '2022-02-18'],
  ['07-18-2022', '2022-07-18'],
  ['12-07-2021', '2021-12-07'],
  ['2026-03-20', '2026-03-20'],
  ['29-Feb-2028', '2028-02-29'],
  ['2026-02-20T09:15:04.120Z', '2026-02-20'],
  ['2026-02-20T23:30:00-11:00', '2026-02-20'],
  ['2026-02-20 09:15:04', '2026-02-20'],
])('%s is the day %s', (text, day) => {
  expect(parseIssuerDate(text)).toBe(Date.parse(`${day}T00:00:00Z`))
})

test.each([
  '',
  'soon',
  '18-07-2022',
  '30-Feb-2026',
  '29-Feb-2026',
  '00-Mar-2026',
  '01-Foo-2026',
  '02-30-2026',
  '2026-13-01',
  '20-Mar-26',
  '01-Mar-0026',
  '2026-03-20T',
  '2026-03-20x',
  20,
  null,
  undefined,
  {},
])('%j is no day', (text) => {
  expect(parseIssuerDate(text)).toBeUndefined()
  expect(endOfLastDayMs(text)).toBeUndefined()
})

test('every day is read from each of the four forms', () => {
  const days = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })

  fc.assert(
    fc.property(days, (date) => {
      const iso = date.toISOString()
      const [year, month, day] = iso.slice(0, 10).split('-')
      const midnight = Date.parse(iso.slice(0, 10))
      const forms = [
        `${day}-${MONTHS[Number(month) - 1]}-${year}`,
        `${month}-${day}-${year}`,
        iso.slice(0, 10),
        iso,
      ]
      expect(forms.map(parseIssuerDate)).toEqual([midnight, midnight, midnight, midnight])
    }),
    { seed: 11 },
  )
})

test('any text gives a midnight in UTC or undefined, and throws nothing', () => {
  const almost = fc.stringMatching(/^[0-9]{1,4}-[0-9A-Za-z]{1,3}-[0-9]{1,4}[T :.Z0-9-]{0,8}$/)

  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string(), almost), (text) => {
      const midnight = parseIssuerDate(text)
      return midnight === undefined || midnight % 86_400_000 === 0
    }),
    { numRuns: 500 },
  )
})

test('the last day is over in every time zone at noon UTC of the next day', () => {
  expect(endOfLastDayMs('20-Mar-2026')).toBe(Date.parse('2026-03-21T12:00:00Z'))
})

test('the first day begins in the first time zone at ten UTC of the day before', () => {
  expect(beginOfFirstDayMs('2026-03-20')).toBe(Date.parse('2026-03-19T10:00:00Z'))
})
