import { DAY_MS, HOUR_MS } from '../../../clock.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const EARLIEST_YEAR = 1970

/**
 * Parses a day in the forms of the issuer: `DD-Mon-YYYY` (most answers), `MM-DD-YYYY` (some answers, and its client
 * library), `YYYY-MM-DD`, or ISO 8601 with a time. The time and zone of ISO 8601 are ignored.
 *
 * @returns midnight UTC of that day in milliseconds; undefined for anything else. Never throws: a date that cannot be
 * read must not keep an event from being registered.
 * @example
 * parseIssuerDate('07-Dec-2021') // 1638835200000
 * parseIssuerDate('12-07-2021') // 1638835200000
 * parseIssuerDate('soon') // undefined
 */
export function parseIssuerDate(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const { year, month, day } = readParts(text.trim()) ?? {}
  return year === undefined || month === undefined || day === undefined
    ? undefined
    : midnightMs(year, month, day)
}

/**
 * When the last day of an event is over in every time zone: 12:00 UTC of the following day. The issuer does not say the
 * time zone, so before that time this server does not refuse a claim as expired.
 *
 * @param expiryDateText the issuer's `expiry_date`
 * @example
 * endOfLastDayMs('20-Mar-2026') // Date.parse('2026-03-21T12:00:00Z')
 */
export function endOfLastDayMs(expiryDateText: unknown): number | undefined {
  const midnight = parseIssuerDate(expiryDateText)
  return midnight === undefined ? undefined : midnight + DAY_MS + 12 * HOUR_MS
}

/**
 * When the first day of an event begins in the first time zone: 10:00 UTC of the day before.
 *
 * @example
 * beginOfFirstDayMs('2026-03-20') // Date.parse('2026-03-19T10:00:00Z')
 */
export function beginOfFirstDayMs(startDateText: unknown): number | undefined {
  const midnight = parseIssuerDate(startDateText)
  return midnight === undefined ? undefined : midnight - 14 * HOUR_MS
}

interface DayParts {
  readonly year: number
  /** 1 to 12 where the day exists. */
  readonly month: number
  readonly day: number
}

function readParts(text: string): DayParts | undefined {
  const named = /^(\d{1,2})-([A-Za-z]{3})-(\d{4})$/.exec(text)
  if (named) return partsOf(named[3], MONTHS.indexOf(named[2]!.toLowerCase()) + 1, named[1])
  const american = /^(\d{1,2})-(\d{1,2})-(\d{4})$/.exec(text)
  if (american) return partsOf(american[3], american[1], american[2])
  const iso =
    /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/.exec(text)
  return iso ? partsOf(iso[1], iso[2], iso[3]) : undefined
}

function partsOf(
  year: string | undefined,
  month: string | number | undefined,
  day: string | undefined,
): DayParts {
  return { year: Number(year), month: Number(month), day: Number(day) }
}

/** Undefined for a day that the calendar does not have: Date.UTC would make the 2nd of March of the 30th of February. */
function midnightMs(year: number, month: number, day: number): number | undefined {
  if (year < EARLIEST_YEAR) return undefined
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined
}
