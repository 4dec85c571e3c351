import type { EventInfo } from '@landpass/client'
import { text } from '../texts/texts.ts'
import { deviceZone, enteredOf, momentOf, momentsOf, zoneOf } from './event-hours.ts'
import type { Fault } from './fault-state.ts'

/** Days and times of an event, as the forms that make or change it have them. */

/** As on the server: times of tokens have 32 bits in public explorers. */
const LAST_YEAR = 2037

/** Days are `YYYY-MM-DD`, times of day `HH:MM` on the clock of the zone. */
export interface EventTimes {
  readonly first_day: string
  /** Empty: from the begin of the first day. */
  readonly first_time: string
  /** Whether the second one is meant where the clock shows the hour twice; of the last day below. */
  readonly first_later: boolean
  readonly last_day: string
  /** Empty: until the last day is over everywhere. */
  readonly last_time: string
  readonly last_later: boolean
  /** IANA name. */
  readonly zone: string
}

/** The fields of days and times, from above. */
export const TIME_PLACES = ['first_day', 'first_time', 'last_day', 'last_time'] as const
export type TimePlace = (typeof TIME_PLACES)[number]

export function noTimes(): EventTimes {
  const [first, last] = [
    { first_day: '', first_time: '', first_later: false },
    { last_day: '', last_time: '', last_later: false },
  ]
  return { ...first, ...last, zone: deviceZone() }
}

/** When tokens are given out, in milliseconds since 1970; undefined for whole days. */
export function hoursOf(times: EventTimes) {
  const { first_day, first_time, last_day, last_time, zone } = times
  return {
    fromMs: momentOf({ day: first_day, time: first_time, isLater: times.first_later }, zone),
    untilMs: momentOf({ day: last_day, time: last_time, isLater: times.last_later }, zone),
  }
}

/** An event of one day has its last day in sight, too: it goes with the first one until another day is entered. */
export function lastDayWith({ first_day: before, last_day }: EventTimes, first_day: string | undefined) {
  return first_day !== undefined && last_day === before ? { last_day: first_day } : {}
}

/** What the server stores of them. An empty text is no time. */
export function sentTimes(times: EventTimes) {
  const { fromMs, untilMs } = hoursOf(times)
  const isoText = (timeMs: number | undefined) => (timeMs === undefined ? '' : new Date(timeMs).toISOString())
  return {
    start_date: times.first_day,
    end_date: times.last_day,
    distribution_start_date: isoText(fromMs),
    distribution_end_date: isoText(untilMs),
    time_zone: times.zone,
  }
}

const HOUR_MS = 60 * 60_000
/** So long before midnight in UTC the first day begins in the first zone. */
const EARLIEST_MS = 14 * HOUR_MS
/** So long after midnight in UTC the last day ends in the last zone. */
const LATEST_MS = 36 * HOUR_MS

/**
 * The times of an event in the fields of a form.
 *
 * @returns `hasTimes`: false where tokens begin or end on other days than the event, which these fields cannot say
 */
export function timesOf(info: EventInfo): { readonly times: EventTimes; readonly hasTimes: boolean } {
  const { event_start_date: first, event_end_date: last } = info
  const { distribution_start_date: opens, distribution_end_date: closes } = info
  const [first_day, last_day] = [first, last].map((day) => (day ?? '').slice(0, 10)) as [string, string]
  const times = { ...noTimes(), first_day, last_day, zone: zoneOf(info) }
  const isWholeDay = opens === null || Date.parse(opens) === Date.parse(first ?? '') - EARLIEST_MS
  const from = isWholeDay ? undefined : enteredOf(Date.parse(opens), times.zone)
  const until = closes === null ? undefined : enteredOf(Date.parse(closes), times.zone)
  const hasTimes = (from?.day ?? first_day) === first_day && (until?.day ?? last_day) === last_day
  if (!hasTimes) return { times, hasTimes }
  return {
    times: {
      ...times,
      ...(from && { first_time: from.time, first_later: from.isLater }),
      ...(until && { last_time: until.time, last_later: until.isLater }),
    },
    hasTimes,
  }
}

/**
 * The fields that the server would refuse, from above.
 *
 * @param incomplete fields of which only a part was typed: in the draft they are empty
 * @param nowMs what ends before is over, in milliseconds since 1970: 0 for times that the event has already
 */
export function faultsOfTimes(
  times: EventTimes,
  incomplete: readonly TimePlace[],
  nowMs: number,
): readonly Fault[] {
  return TIME_PLACES.flatMap((place) => {
    const say = incomplete.includes(place)
      ? () => text('organise.make.incomplete_fault')
      : whyRefused(place, times, nowMs)
    return say ? [{ place, say }] : []
  })
}

function whyRefused(place: TimePlace, times: EventTimes, nowMs: number): Fault['say'] | undefined {
  const { first_day, last_day, zone } = times
  if (place === 'first_day') return isDay(first_day) ? undefined : () => text('organise.make.day_fault')
  if (place === 'last_day' && !isDay(last_day)) return () => text('organise.make.day_fault')
  const isOver = isDay(last_day) && Date.parse(last_day) + LATEST_MS <= nowMs
  if (place === 'last_day')
    return isOver || (isDay(first_day) && last_day < first_day)
      ? () => text('organise.make.last_day_fault')
      : undefined
  const [day, time] = [times[place === 'first_time' ? 'first_day' : 'last_day'], times[place]]
  if (isDay(day) && time !== '' && momentsOf({ day, time }, zone).length === 0)
    return () => text('organise.make.skipped_fault', { time, zone })
  const { fromMs, untilMs } = hoursOf(times)
  const leastMs = Math.max(fromMs ?? Date.parse(first_day) - EARLIEST_MS, nowMs)
  const isTooEarly = untilMs !== undefined && untilMs <= leastMs
  return place === 'last_time' && isTooEarly && !isOver && last_day >= first_day
    ? () => text('organise.make.last_time_fault')
    : undefined
}

function isDay(typed: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(typed) && Number(typed.slice(0, 4)) <= LAST_YEAR
}
