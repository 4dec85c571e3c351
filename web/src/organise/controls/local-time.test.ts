import { expect, test } from 'vitest'
import { isFarBefore, isLater, isoOf, localText, typedMoments } from './local-time.ts'

test.each(['2026-11-20T18:00:00.000Z', '2026-07-01T00:30:00.000Z'])(
  '%s is the same time after a field has shown it, in whatever time zone',
  (iso) => {
    for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
      expect(localText(iso, zone)).toMatch(/^2026-\d\d-\d\dT\d\d:\d\d$/)
      expect(isoOf(localText(iso, zone), zone)).toBe(iso)
    }
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
  expect(localText(null, 'UTC')).toBe('')
  expect(isoOf('', 'UTC')).toBeNull()
})

test('what is no time is told from no limit', () => {
  expect(isoOf('tomorrow', 'UTC')).toBeUndefined()
})

test('a typed time is compared with a time of the server; what is no time is not later', () => {
  const iso = '2026-11-20T18:00:00.000Z'
  expect(isLater('2026-11-20T19:01', iso, 'Europe/Paris')).toBe(true)
  expect(isLater('2026-11-20T19:00', iso, 'Europe/Paris')).toBe(false)
  expect(isLater('', iso, 'Europe/Paris')).toBe(false)
})

test('of an hour that the clock shows twice both are there, and of one that it leaves out none', () => {
  const twice = '2026-10-25T02:30'
  expect(typedMoments(twice, 'Europe/Paris')).toHaveLength(2)
  expect(isoOf(twice, 'Europe/Paris')).toBe('2026-10-25T00:30:00.000Z')
  expect(isoOf(twice, 'Europe/Paris', true)).toBe('2026-10-25T01:30:00.000Z')
  expect(isoOf('2026-03-29T02:30', 'Europe/Paris')).toBeUndefined()
})
