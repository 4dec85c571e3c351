export type Fields = Readonly<Record<string, unknown>>

/** The fields of a JSON object; undefined for an array and every other value. */
export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/

/**
 * A time of a published list, in milliseconds since 1970. Only one format counts: date, time with seconds, `Z`.
 *
 * @returns undefined for another value, and for a date that no calendar has
 * @example
 * readTimeMs('2027-03-01T10:00:00.000Z') // 1803895200000
 * readTimeMs('2027-03-01') // undefined
 */
export function readTimeMs(value: unknown): number | undefined {
  if (typeof value !== 'string' || !UTC_TIME.test(value)) return undefined
  const timeMs = Date.parse(value)
  // Date.parse makes the 31st of February a day of March
  const isDay = !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(value.slice(0, 10))
  return isDay ? timeMs : undefined
}
