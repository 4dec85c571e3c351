import type { EventInfo } from '@landpass/client'
import { isKnownZone } from '../texts/format.ts'

/** Hours of an event as an organiser enters them: days and times of day on the clock of a time zone. */

/** A day as `YYYY-MM-DD`, and a time of that day as `HH:MM`; empty where none was entered. */
export interface EnteredTime {
  readonly day: string
  readonly time: string
  /** Where the clock shows an hour twice: the second one is meant. */
  readonly isLater?: boolean
}

/** The zone of the device's clock. */
export function deviceZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The zone on whose clock an organiser enters the times of an event: its own, where it has one that this browser knows. */
export function zoneOf({ time_zone: zone }: Pick<EventInfo, 'time_zone'>): string {
  return zone !== null && isKnownZone(zone) ? zone : deviceZone()
}

/** All zones that the browser knows, and `zone`. */
export function zoneNames(zone: string): readonly string[] {
  return [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', deviceZone(), zone])].sort()
}

/**
 * The moments at which the clock of a zone shows a day and time, in milliseconds since 1970: mostly one; two in the hour
 * that it repeats in autumn; none in the hour that it leaves out in spring, or where day or time is missing.
 */
export function momentsOf({ day, time }: EnteredTime, zone: string): readonly number[] {
  const asUtcMs = Date.parse(`${day}T${time}Z`)
  if (day === '' || time === '' || Number.isNaN(asUtcMs)) return []
  const distances = [-DAY_MS, DAY_MS].map((ms) => clockMs(asUtcMs + ms, zone) - (asUtcMs + ms))
  const moments = [...new Set(distances.map((distance) => asUtcMs - distance))]
  return moments.filter((atMs) => clockMs(atMs, zone) === asUtcMs).sort((one, other) => one - other)
}

/** The moment of a day and time; undefined where one of the two is missing, or the clock leaves the hour out. */
export function momentOf(entered: EnteredTime, zone: string): number | undefined {
  const moments = momentsOf(entered, zone)
  return entered.isLater ? moments.at(-1) : moments[0]
}

/** What the clock of a zone shows at a moment: the reverse of {@link momentOf}. */
export function enteredOf(atMs: number, zone: string): Required<EnteredTime> {
  const [day = '', time = ''] = new Date(clockMs(atMs, zone)).toISOString().slice(0, 16).split('T')
  const [first = atMs] = momentsOf({ day, time }, zone)
  return { day, time, isLater: Math.floor(atMs / MINUTE_MS) * MINUTE_MS > first }
}

/**
 * The name of a zone with its distance to UTC at a time: `Europe/Paris (GMT+1)`.
 *
 * @param locale of the words
 */
export function zoneName(atMs: number, locale: string, timeZone = deviceZone()): string {
  const distance = zoneDistance(atMs, locale, timeZone)
  return timeZone === 'UTC' || distance === '' ? timeZone : `${timeZone} (${distance})`
}

/** The distance of a zone to UTC at a time: `GMT+1`. */
export function zoneDistance(atMs: number, locale: string, timeZone: string): string {
  const clock = new Intl.DateTimeFormat(locale, { timeZoneName: 'shortOffset', timeZone })
  return clock.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** What the clock of a zone shows at a moment, as if it were UTC, to the minute. */
function clockMs(atMs: number, timeZone: string): number {
  const clock = new Intl.DateTimeFormat('en', { ...CLOCK, timeZone })
  const parts = Object.fromEntries(clock.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute)
}

const CLOCK: Intl.DateTimeFormatOptions = {
  ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
  hourCycle: 'h23',
}
