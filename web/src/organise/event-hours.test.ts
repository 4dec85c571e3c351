import { afterEach, expect, test, vi } from 'vitest'
import { deviceZone, enteredOf, momentOf, momentsOf, zoneName, zoneOf } from './event-hours.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test.each([
  ['Europe/Paris', '2027-03-05', '2027-03-05T17:00:00.000Z', 'Europe/Paris (GMT+1)'],
  ['Europe/Paris', '2027-07-05', '2027-07-05T16:00:00.000Z', 'Europe/Paris (GMT+2)'],
  ['America/New_York', '2027-03-05', '2027-03-05T23:00:00.000Z', 'America/New_York (GMT-5)'],
  ['UTC', '2027-03-05', '2027-03-05T18:00:00.000Z', 'UTC'],
  ['Asia/Dubai', '2027-03-05', '2027-03-05T14:00:00.000Z', 'Asia/Dubai (GMT+4)'],
])('in %s, six in the controls of %s is %s, and the zone is %s', (zone, day, utc, name) => {
  vi.stubEnv('TZ', 'Pacific/Kiritimati')
  const atMs = momentOf({ day, time: '18:00' }, zone)!

  expect(new Date(atMs).toISOString()).toBe(utc)
  expect(enteredOf(atMs, zone)).toEqual({ day, time: '18:00', isLater: false })
  expect(zoneName(atMs, 'en', zone)).toBe(name)
})

test.each([
  ['', '18:00'],
  ['2027-03-05', ''],
  ['no day', '18:00'],
])('day %j and time %j are no moment', (day, time) => {
  expect(momentOf({ day, time }, 'Europe/Paris')).toBeUndefined()
})

test.each([
  ['Europe/Paris', '2027-10-31', '02:30', ['2027-10-31T00:30:00.000Z', '2027-10-31T01:30:00.000Z']],
  ['America/New_York', '2027-11-07', '01:00', ['2027-11-07T05:00:00.000Z', '2027-11-07T06:00:00.000Z']],
  ['Australia/Lord_Howe', '2027-04-04', '01:45', ['2027-04-03T14:45:00.000Z', '2027-04-03T15:15:00.000Z']],
  ['Europe/Paris', '2027-10-31', '03:00', ['2027-10-31T02:00:00.000Z']],
  ['Europe/Paris', '2027-03-28', '02:30', []],
  ['Europe/Paris', '2027-03-28', '03:00', ['2027-03-28T01:00:00.000Z']],
  ['America/New_York', '2027-03-14', '02:00', []],
])('the clock of %s shows %s %s at %j', (zone, day, time, moments) => {
  const found = momentsOf({ day, time }, zone)

  expect(found.map((atMs) => new Date(atMs).toISOString())).toEqual(moments)
  expect(momentOf({ day, time, isLater: true }, zone)).toBe(found.at(-1))
  for (const atMs of found) expect(momentOf(enteredOf(atMs, zone), zone)).toBe(atMs)
})

test('the times of an event are entered in its zone, and on the clock of the device where the browser does not know that', () => {
  const zones = ['Asia/Kolkata', 'Mars/Olympus', null].map((time_zone) => zoneOf({ time_zone }))
  expect(zones).toEqual(['Asia/Kolkata', deviceZone(), deviceZone()])
})
