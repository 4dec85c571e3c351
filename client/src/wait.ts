/** Resolves after some milliseconds; rejects with the signal's reason when it is aborted before. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>

/** {@link Wait} by the clock of the machine. */
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
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
