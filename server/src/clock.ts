/** The source of the current time: the system clock in a server, a clock that tests set in tests. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  nowMs(): number
}

export const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now() }

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
