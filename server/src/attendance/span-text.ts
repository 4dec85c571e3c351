import { DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.ts'

/**
 * A length of time in words, rounded up: minutes below two hours, hours below two days, else days. For sentences to players, whose
 * time zone the server does not know.
 *
 * @example
 * spanText(90 * MINUTE_MS) // '90 minutes'
 */
export function spanText(ms: number): string {
  if (ms < 2 * HOUR_MS) return counted(Math.max(Math.ceil(ms / MINUTE_MS), 1), 'minute')
  if (ms < 2 * DAY_MS) return counted(Math.ceil(ms / HOUR_MS), 'hour')
  return counted(Math.ceil(ms / DAY_MS), 'day')
}

function counted(count: number, unit: string): string {
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`
}
