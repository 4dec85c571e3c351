/** Where the time comes from: the system in a server, a fixed or moving hand in tests. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  nowMs(): number
}

export const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now() }

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
