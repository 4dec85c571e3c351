/** Times as the fields of forms have them: `2026-11-20T18:00`, in the time zone of the device. */

/**
 * A time of the server for a field of the type `datetime-local`; an empty text for no time.
 *
 * @example
 * localText('2026-11-20T18:00:00.000Z') // '2026-11-20T19:00' in Paris
 */
export function localText(iso: string | null): string {
  if (iso === null) return ''
  const date = new Date(iso)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/**
 * What was typed into such a field, for the server: null for an empty one, undefined for what is no time.
 *
 * @example
 * isoOf('2026-11-20T19:00') // '2026-11-20T18:00:00.000Z' in Paris
 */
export function isoOf(typed: string): string | null | undefined {
  if (typed === '') return null
  const timeMs = Date.parse(typed)
  return Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString()
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
 * isLater('2026-11-20T19:00', '2026-11-20T17:59:00.000Z') // true in Paris
 */
export function isLater(typed: string, iso: string): boolean {
  return Date.parse(typed) > Date.parse(iso)
}
