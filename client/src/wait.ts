/** Resolves after some milliseconds; rejects with the signal's reason if it is aborted before. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>

/** About 25 days. A longer timer would fire after 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Milliseconds as `setTimeout` takes them: at most about 25 days.
 *
 * @example
 * timerMs(Infinity) // 2147483647
 */
export function timerMs(ms: number): number {
  return Math.min(ms, MAX_TIMER_MS)
}

/** The default {@link Wait}: a timer, for at most about 25 days. */
export const waitFor: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, timerMs(ms))
    signal?.addEventListener('abort', end, { once: true })
  })
