/** The source of the current time: the system clock in a server, a clock that tests set in tests. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  nowMs(): number
  /** See {@link steadyMs}; a clock without it is never set. */
  steadyMs?(): number
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.timeOrigin + performance.now(),
}

/**
 * Milliseconds that pass evenly even when the clock of the machine is set: for ages and pauses inside this process. The
 * number is near `nowMs()` until the clock is set.
 *
 * @example
 * steadyMs({ nowMs: () => 7 }) // 7
 */
export function steadyMs(clock: Clock): number {
  return clock.steadyMs?.() ?? clock.nowMs()
}

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/**
 * Whole seconds since a time in the past; 0 for one in the future, because clocks of machines differ.
 *
 * @example
 * secondsSince(1_000, { nowMs: () => 3_999 }) // 2
 */
export function secondsSince(timeMs: number, clock: Clock): number {
  return Math.max(Math.floor((clock.nowMs() - timeMs) / SECOND_MS), 0)
}

/**
 * The result of `work`, or of `late` if that takes longer. The work goes on, and its failure after the limit is ignored.
 *
 * @param limitMs milliseconds by a steady clock
 * @throws what `work` throws within the limit, and what `late` throws
 * @example
 * await withTimeLimit(count(), 1_000, () => undefined)
 */
export async function withTimeLimit<T>(work: Promise<T>, limitMs: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs)
  })
  try {
    return await Promise.race([work, limit.then(late)])
  } finally {
    clearTimeout(timer)
  }
}
