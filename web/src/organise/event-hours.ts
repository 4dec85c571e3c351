/** Hours of an event as an organiser enters them: days and times of day on the clock of this device. */

/** A day as `YYYY-MM-DD`, and a time of that day as `HH:MM`; empty where none was entered. */
export interface EnteredTime {
  readonly day: string
  readonly time: string
}

/**
 * The moment of a day and time on the clock of this device, in milliseconds since 1970.
 *
 * @returns undefined where one of the two is missing
 */
export function momentOf({ day, time }: EnteredTime): number | undefined {
  const atMs = Date.parse(`${day}T${time}`)
  return day === '' || time === '' || Number.isNaN(atMs) ? undefined : atMs
}

/**
 * The zone of this device's clock, with its distance to UTC at a time: `Europe/Paris (GMT+1)`.
 *
 * @param locale of the words
 */
export function zoneName(atMs: number, locale: string): string {
  const clock = new Intl.DateTimeFormat(locale, { timeZoneName: 'shortOffset' })
  const distance = clock.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const { timeZone } = clock.resolvedOptions()
  return timeZone === 'UTC' || distance === '' ? timeZone : `${timeZone} (${distance})`
}
