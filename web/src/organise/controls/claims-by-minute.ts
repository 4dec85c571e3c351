import type { MinuteOfClaims } from '../../api/controls.ts'

const MINUTE_MS = 60_000

/**
 * How many claims were made in the last minutes, the current one included.
 *
 * @param nowMs milliseconds since 1970
 */
export function claimsSince(minutes: readonly MinuteOfClaims[], nowMs: number, lastMinutes: number): number {
  return barsOf(minutes, nowMs, lastMinutes).reduce((sum, { claims }) => sum + claims, 0)
}

/** A minute of the chart. */
export interface Bar {
  /** Its begin, in milliseconds since 1970. */
  readonly atMs: number
  readonly claims: number
}

/**
 * The last minutes, the oldest first, with those without claims. They end with the current minute, or with the newest of
 * the report where the clock of this device is slow.
 *
 * @param nowMs milliseconds since 1970
 */
export function barsOf(minutes: readonly MinuteOfClaims[], nowMs: number, count: number): readonly Bar[] {
  const claimsAt = new Map(minutes.map(({ minute, claims }) => [Date.parse(minute), claims]))
  const lastMs = Math.max(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS, ...claimsAt.keys())
  return Array.from({ length: count }, (_, at) => {
    const atMs = lastMs - (count - 1 - at) * MINUTE_MS
    return { atMs, claims: claimsAt.get(atMs) ?? 0 }
  })
}

/**
 * The top of the scale: a round number, at least the largest bar.
 *
 * @example
 * scaleTop([{ claims: 37 }]) // 50
 */
export function scaleTop(bars: readonly Pick<Bar, 'claims'>[]): number {
  const most = Math.max(1, ...bars.map(({ claims }) => claims))
  const power = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= most) ?? most
}
