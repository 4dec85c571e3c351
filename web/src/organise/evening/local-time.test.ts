import { expect, test } from 'vitest'
import { isFarBefore, isLater, isoOf, localText } from './local-time.ts'

test.each(['2026-11-20T18:00:00.000Z', '2026-07-01T00:30:00.000Z'])(
  '%s is the same time after a field has shown it, in whatever time zone',
  (iso) => {
    expect(localText(iso)).toMatch(/^2026-\d\d-\d\dT\d\d:\d\d$/)
    expect(isoOf(localText(iso))).toBe(iso)
  },
)

test.each([
  ['2025-11-20T18:00:00.000Z', true],
  ['2026-10-21T00:00:00.000Z', true],
  ['2026-10-21T00:00:01.000Z', false],
  ['2026-11-20T18:00:00.000Z', false],
  [null, false],
])('an opening time of %s before an event of 20 November 2026 is far too early: %s', (opens, isFar) => {
  expect(isFarBefore(opens, '2026-11-20T00:00:00.000Z')).toBe(isFar)
  expect(isFarBefore(opens, null)).toBe(false)
})

test('no limit is an empty field', () => {
  expect(localText(null)).toBe('')
  expect(isoOf('')).toBeNull()
})

test('what is no time is told from no limit', () => {
  expect(isoOf('tomorrow')).toBeUndefined()
})

test('a typed time is compared with a time of the server; what is no time is not later', () => {
  const iso = '2026-11-20T18:00:00.000Z'
  expect(isLater(localText('2026-11-20T18:01:00.000Z'), iso)).toBe(true)
  expect(isLater(localText(iso), iso)).toBe(false)
  expect(isLater('', iso)).toBe(false)
})
