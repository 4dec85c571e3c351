import { expect, test } from 'vitest'
import { readTime } from './time-text.ts'

const AT_MS = Date.UTC(2027, 2, 5, 18, 0, 0)

test.each([
  ['JavaScript', '2027-03-05T18:00:00.123Z', 123],
  ['Python', '2027-03-05T18:00:00.123456+00:00', 123],
  ['Go', '2027-03-05T18:00:00.123456789Z', 123],
  ['Go, zeros left out', '2027-03-05T18:00:00.1Z', 100],
  ['.NET', '2027-03-05T18:00:00.1234567Z', 123],
  ['.NET, local', '2027-03-05T19:00:00.1234567+01:00', 123],
  ['Java, seconds left out', '2027-03-05T18:00Z', 0],
  ['Rust', '2027-03-05T18:00:00.000000001+00:00', 0],
  ['RFC 3339 in small letters', '2027-03-05t18:00:00z', 0],
  ['an offset of another day', '2027-03-06T04:45:00+10:45', 0],
  ['an unknown place', '2027-03-05T18:00:00-00:00', 0],
])('a time as it is written by %s: %s', (_, text, ms) => {
  expect(readTime(text)).toEqual({ timeMs: AT_MS + ms })
})

test.each(['2028-02-29', '2000-02-29', '2027-02-28', '2027-04-30', '2027-12-31'])('%s exists', (day) => {
  expect(readTime(`${day}T00:00:00Z`)).toEqual({ timeMs: Date.parse(`${day}T00:00:00Z`) })
})

test.each([
  ['2027-02-30T18:00:00Z', 'whose day does not exist in that month'],
  ['2027-02-29T18:00:00Z', 'whose day does not exist in that month'],
  ['2100-02-29T18:00:00Z', 'whose day does not exist in that month'],
  ['2027-11-31T18:00:00Z', 'whose day does not exist in that month'],
  ['2027-04-31T18:00:00Z', 'whose day does not exist in that month'],
  ['2027-01-00T18:00:00Z', 'whose day does not exist in that month'],
  ['2027-13-01T18:00:00Z', 'whose month does not exist'],
  ['2027-00-01T18:00:00Z', 'whose month does not exist'],
  ['2027-03-05', 'which has no time of day'],
  ['2027-03-05T24:00:00Z', 'whose hour does not exist'],
  ['2027-03-05T18:60:00Z', 'whose minute does not exist'],
  ['2027-03-05T18:00:60Z', 'whose second does not exist'],
  ['2027-03-05T18:00:00.1234567890Z', 'whose fraction of a second has more than 9 digits'],
  ['2027-03-05T18:00:00', 'which has no time zone'],
  ['2027-03-05T18:00', 'which has no time zone'],
  ['2027-03-05T18:00:00+24:00', 'whose time zone does not exist'],
  ['2027-03-05T18:00:00+01:60', 'whose time zone does not exist'],
  ['2027-03-05T18:00:00+0100', 'which is no date and time'],
  ['2027-03-05T18:00:00.Z', 'which is no date and time'],
  ['2027-03-05 18:00:00Z', 'which is no date and time'],
  ['tomorrow', 'which is no date and time'],
  ['', 'which is no date and time'],
])('%s is refused with what is wrong: %s', (text, wrong) => {
  expect(readTime(text)).toEqual({ wrong })
})
