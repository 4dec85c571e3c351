import { afterEach, expect, test, vi } from 'vitest'
import { momentOf, zoneName } from './event-hours.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test.each([
  ['Europe/Paris', '2027-03-05', '2027-03-05T17:00:00.000Z', 'Europe/Paris (GMT+1)'],
  ['Europe/Paris', '2027-07-05', '2027-07-05T16:00:00.000Z', 'Europe/Paris (GMT+2)'],
  ['America/New_York', '2027-03-05', '2027-03-05T23:00:00.000Z', 'America/New_York (GMT-5)'],
  ['UTC', '2027-03-05', '2027-03-05T18:00:00.000Z', 'UTC'],
  ['Asia/Dubai', '2027-03-05', '2027-03-05T14:00:00.000Z', 'Asia/Dubai (GMT+4)'],
])('on a device in %s, six in the evening of %s is %s, and the zone is %s', (zone, day, utc, name) => {
  vi.stubEnv('TZ', zone)
  const atMs = momentOf({ day, time: '18:00' })!

  expect(new Date(atMs).toISOString()).toBe(utc)
  expect(zoneName(atMs, 'en')).toBe(name)
})

test.each([
  ['', '18:00'],
  ['2027-03-05', ''],
  ['no day', '18:00'],
])('day %j and time %j are no moment', (day, time) => {
  expect(momentOf({ day, time })).toBeUndefined()
})
