import { expect, test } from 'vitest'
import { isLater, isoOf, localText } from './local-time.ts'

test.each(['2026-11-20T18:00:00.000Z', '2026-07-01T00:30:00.000Z'])(
  '%s is the same time after a field has shown it, in whatever time zone',
  (iso) => {
    expect(localText(iso)).toMatch(/^2026-\d\d-\d\dT\d\d:\d\d$/)
    expect(isoOf(localText(iso))).toBe(iso)
  },
)

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
