export interface Repeats {
  /**
   * Milliseconds to wait until the work is done again; undefined where the failure is thrown. May throw another error.
   *
   * @param tries how often the work was done; at least 1
   */
  readonly pauseAfter: (error: unknown, tries: number) => number | undefined
  readonly pause: (ms: number) => Promise<unknown>
}

/**
 * Does work, and does it again after failures that pass.
 *
 * @throws what `work` throws where `pauseAfter` gives no pause, and what `pauseAfter` throws
 * @example
 * const pauseAfter = (error, tries) => (error instanceof BusyError && tries < 5 ? 100 * 2 ** tries : undefined)
 * await repeatAfterFailures(() => ask(), { pauseAfter, pause: setTimeout })
 */
export async function repeatAfterFailures<T>(
  work: () => Promise<T>,
  { pauseAfter, pause }: Repeats,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const pauseMs = pauseAfter(error, tries)
      if (pauseMs === undefined) throw error
      if (pauseMs > 0) await pause(pauseMs)
    }
  }
}
