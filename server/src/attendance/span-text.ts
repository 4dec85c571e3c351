import { DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.ts'

/**
 * A length of time in words: minutes below two hours, hours below two days, else days. For sentences to players, whose
 * time zone the server does not know.
 *
 * @param round up for a time to come, which players wait for; down for one that has passed
 * @example
 * spanText(90 * MINUTE_MS, Math.ceil) // '90 minutes'
 */
export function spanText(ms: number, round: (count: number) => number): string {
  if (ms < 2 * HOUR_MS) return counted(Math.max(round(ms / MINUTE_MS), 1), 'minute')
  if (ms < 2 * DAY_MS) return counted(round(ms / HOUR_MS), 'hour')
  return counted(round(ms / DAY_MS), 'day')
}

function counted(count: number, unit: string): string {
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`
}
