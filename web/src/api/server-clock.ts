/**
 * What time it is on the server, which opens and closes events by its own clock: that of the reader's device may be wrong.
 */

/** The header has whole seconds and an answer takes some time: a smaller difference is none. */
const SMALLEST_DIFFERENCE_MS = 2_000

/** How much the clock of the server is ahead of the device's, in milliseconds. */
let aheadMs = 0

/** Learns the time of the server from an answer. @param date its header `Date`; without one nothing changes */
export function noteServerTime(date: string | undefined): void {
  const measuredMs = Date.parse(date ?? '') - Date.now()
  if (Math.abs(measuredMs - aheadMs) > SMALLEST_DIFFERENCE_MS) {
    aheadMs = Math.abs(measuredMs) > SMALLEST_DIFFERENCE_MS ? measuredMs : 0
  }
}

/** Milliseconds since 1970. That of the device before the first answer. */
export function serverNowMs(): number {
  return Date.now() + aheadMs
}
