import type { Scale } from './price-scale.ts'

/** Times in milliseconds since 1970. Days, months and years begin at midnight UTC. */
export interface TimeScale extends Scale {
  /** What two neighbouring ticks differ in: the part of a date that has to be written. */
  readonly unit: 'day' | 'month' | 'year'
}

const DAY_MS = 86_400_000
const LEAST_SPAN_MS = 4 * DAY_MS
/** At most so many dates fit below a narrow chart. */
const DATES = 4
const DAY_STEPS = [1, 2, 5, 10, 15]
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120, 240, 600]

/**
 * An axis for at least one time, with all of them on it.
 *
 * @example
 * timeScale([Date.UTC(2019, 5), Date.UTC(2022, 1)]).ticks // 2020, 2021 and 2022, January the first
 */
export function timeScale(timesMs: readonly number[]): TimeScale {
  const earliest = timesMs.reduce((a, b) => Math.min(a, b))
  const latest = timesMs.reduce((a, b) => Math.max(a, b))
  const missing = Math.max(0, LEAST_SPAN_MS - (latest - earliest))
  const from = earliest - missing / 2
  const to = latest + missing / 2
  return { ...findTicks(from, to), position: (timeMs) => (timeMs - from) / (to - from) }
}

function findTicks(from: number, to: number): Pick<TimeScale, 'ticks' | 'unit'> {
  for (const days of DAY_STEPS) {
    const ticks = dayTicks(from, to, days)
    if (ticks.length <= DATES) return { ticks, unit: 'day' }
  }
  for (const months of MONTH_STEPS) {
    const ticks = monthTicks(from, to, months)
    if (ticks.length <= DATES) return { ticks, unit: months < 12 ? 'month' : 'year' }
  }
  return { ticks: [], unit: 'year' }
}

function dayTicks(from: number, to: number, days: number): readonly number[] {
  const step = days * DAY_MS
  const ticks: number[] = []
  for (let time = Math.ceil(from / step) * step; time <= to && ticks.length <= DATES; time += step)
    ticks.push(time)
  return ticks
}

/** Months are counted from January of the year 0, so that steps of years begin with round ones. */
function monthTicks(from: number, to: number, months: number): readonly number[] {
  const first = new Date(from)
  const counted = first.getUTCFullYear() * 12 + first.getUTCMonth()
  const ticks: number[] = []
  for (let month = Math.floor(counted / months) * months; ticks.length <= DATES; month += months) {
    const time = Date.UTC(Math.floor(month / 12), month % 12)
    if (time > to) break
    if (time >= from) ticks.push(time)
  }
  return ticks
}
