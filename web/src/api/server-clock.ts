/**
 * What time it is on the server, which opens and closes events by its own clock: that of the reader's device may be wrong.
 */

/** The header has whole seconds: a smaller difference is none. */
const SMALLEST_DIFFERENCE_MS = 2_000

/** How much the clock of the server is ahead of the device's, in milliseconds. */
let aheadMs = 0

/**
 * Learns the time of the server from an answer. The server wrote it between sending and now, which may be long: what is
 * known stays if it agrees with that, and a device that agrees with it is right.
 *
 * @param date its header `Date`; without one nothing changes
 * @param sentMs when the request was sent, by the device
 */
export function noteServerTime(date: string | undefined, sentMs: number): void {
  const serverMs = Date.parse(date ?? '')
  const leastMs = serverMs - Date.now()
  const mostMs = serverMs - sentMs
  // Nothing differs from a date that cannot be read: it is NaN
  const differs = (ms: number) =>
    ms < leastMs - SMALLEST_DIFFERENCE_MS || ms > mostMs + SMALLEST_DIFFERENCE_MS
  if (differs(aheadMs)) aheadMs = differs(0) ? leastMs : 0
}

/** Milliseconds since 1970. That of the device before the first answer. */
export function serverNowMs(): number {
  return Date.now() + aheadMs
}
