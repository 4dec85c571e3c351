/**
 * A wait for people, rounded up: texts name the real time, which can be an hour.
 *
 * @param seconds at least one
 * @example
 * waitText(5) // '5 seconds'
 * waitText(3589) // '60 minutes'
 */
export function waitText(seconds: number): string {
  if (seconds === 1) return '1 second'
  return seconds < 100 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`
}
