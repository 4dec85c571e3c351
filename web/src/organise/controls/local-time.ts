import { enteredOf, momentOf, momentsOf } from '../event-hours.ts'

/** Times as the fields of forms have them: `2026-11-20T18:00`, on the clock of a time zone. */

/**
 * A time of the server for a field of the type `datetime-local`; an empty text for no time.
 *
 * @example
 * localText('2026-11-20T18:00:00.000Z', 'Europe/Paris') // '2026-11-20T19:00'
 */
export function localText(iso: string | null, zone: string): string {
  if (iso === null) return ''
  const { day, time } = enteredOf(Date.parse(iso), zone)
  return `${day}T${time}`
}

/** The moments at which the clock of a zone shows what was typed into such a field: two where it shows the hour twice. */
export function typedMoments(typed: string, zone: string): readonly number[] {
  const [day = '', time = ''] = typed.split('T')
  return momentsOf({ day, time: time.slice(0, 5) }, zone)
}

/**
 * What was typed into such a field, for the server: null for an empty one, undefined for what is no time, and for an hour that
 * the clock leaves out.
 *
 * @param isLater of an hour that the clock shows twice, the second one
 * @example
 * isoOf('2026-11-20T19:00', 'Europe/Paris') // '2026-11-20T18:00:00.000Z'
 */
export function isoOf(typed: string, zone: string, isLater = false): string | null | undefined {
  if (typed === '') return null
  const [day = '', time = ''] = typed.split('T')
  const timeMs = momentOf({ day, time: time.slice(0, 5), isLater }, zone)
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString()
}

const DAY_MS = 24 * 60 * 60_000
/** As on the server, which warns of such an opening. */
const EARLY_DAYS = 30

/**
 * Whether an opening time lies so long before the first day of an event that it is probably a mistake, such as a wrong year.
 *
 * @param opens null for no opening time
 * @param firstDay the begin of the first day, in UTC; null where it is not known
 * @example
 * isFarBefore('2025-11-20T18:00:00.000Z', '2026-11-20T00:00:00.000Z') // true
 */
export function isFarBefore(opens: string | null, firstDay: string | null): boolean {
  return (
    opens !== null && firstDay !== null && Date.parse(opens) <= Date.parse(firstDay) - EARLY_DAYS * DAY_MS
  )
}

/**
 * Whether what was typed into such a field is later than a time of the server. What is no time is not.
 *
 * @example
 * isLater('2026-11-20T19:00', '2026-11-20T17:59:00.000Z', 'Europe/Paris') // true
 */
export function isLater(typed: string, iso: string, zone: string): boolean {
  return (typedMoments(typed, zone)[0] ?? Number.NEGATIVE_INFINITY) > Date.parse(iso)
}
