const DAY_AND_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?([Zz]|[+-]\d{2}:\d{2})?)?$/
const MAX_FRACTION_DIGITS = 9

/** A time that was read, or what is wrong with its text: a clause that follows the text in a sentence. */
export type ReadTime =
  | { readonly timeMs: number; readonly wrong?: never }
  | { readonly timeMs?: never; readonly wrong: string }

/**
 * Reads a time as RFC 3339 has it: a day that exists, a time of day, and a time zone. `t` and `z` may be small, and the seconds may
 * be left out. A fraction of a second has one to nine digits; what follows the milliseconds is dropped.
 *
 * @returns milliseconds since 1970
 * @example
 * readTime('2027-03-05T19:00:00.123456+01:00').timeMs // Date.parse('2027-03-05T18:00:00.123Z')
 * readTime('2027-02-30T18:00:00Z').wrong // 'whose day does not exist in that month'
 */
export function readTime(text: string): ReadTime {
  const parts = DAY_AND_TIME.exec(text)
  if (!parts) return { wrong: 'which is no date and time' }
  const [, year = '', month = '', day = '', hour, minute = '', second = '00', fraction = '', zone] = parts
  if (Number(month) < 1 || Number(month) > 12) return { wrong: 'whose month does not exist' }
  if (Number(day) < 1 || Number(day) > daysOf(year, month)) {
    return { wrong: 'whose day does not exist in that month' }
  }
  if (hour === undefined) return { wrong: 'which has no time of day' }
  if (Number(hour) > 23) return { wrong: 'whose hour does not exist' }
  if (Number(minute) > 59) return { wrong: 'whose minute does not exist' }
  if (Number(second) > 59) return { wrong: 'whose second does not exist' }
  if (fraction.length > MAX_FRACTION_DIGITS) {
    return { wrong: `whose fraction of a second has more than ${MAX_FRACTION_DIGITS} digits` }
  }
  if (zone === undefined) return { wrong: 'which has no time zone' }
  const ms = fraction.slice(0, 3).padEnd(3, '0')
  const timeMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}${zone.toUpperCase()}`)
  return Number.isNaN(timeMs) ? { wrong: 'whose time zone does not exist' } : { timeMs }
}

function daysOf(year: string, month: string): number {
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0)
  if (month === '02') return isLeap ? 29 : 28
  return ['04', '06', '09', '11'].includes(month) ? 30 : 31
}
