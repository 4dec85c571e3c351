import { LandpassError } from '@landpass/client'
import { retryPauseMs } from '../api/retry-pause.ts'

export interface Repetition {
  /** Asks now, also while the server wants a pause; once more at once where an older request is running. */
  refresh(): void
  stop(): void
}

/**
 * Runs a request now and again and again, while the page is visible. After a failure the pauses grow, and none is shorter
 * than the server asks for (`Retry-After`), also when the reader comes back to the page.
 *
 * @param everyMs the pause after a success
 * @param ask resolves to what failed; undefined after a success. Never rejected
 */
export function repeatWhileVisible(
  everyMs: number,
  ask: (signal: AbortSignal) => Promise<unknown>,
): Repetition {
  const end = new AbortController()
  let timer: number | undefined
  let isAsking = false
  let isWantedAgain = false
  let failures = 0
  let notBeforeMs = 0

  const run = async () => {
    window.clearTimeout(timer)
    if (isAsking || document.hidden || end.signal.aborted) return
    isAsking = true
    isWantedAgain = false
    const fault = await ask(end.signal)
    isAsking = false
    if (end.signal.aborted) return
    failures = fault === undefined ? 0 : failures + 1
    notBeforeMs = Date.now() + waitMs(fault)
    const pauseMs = fault === undefined ? 0 : retryPauseMs(fault, failures)
    timer = window.setTimeout(run, isWantedAgain ? 0 : Math.max(pauseMs, everyMs))
  }
  const comeBack = () => {
    const pauseMs = notBeforeMs - Date.now()
    if (pauseMs <= 0) return void run()
    window.clearTimeout(timer)
    timer = window.setTimeout(run, pauseMs)
  }
  document.addEventListener('visibilitychange', comeBack, { signal: end.signal })
  window.addEventListener('online', comeBack, { signal: end.signal })
  void run()

  return {
    refresh: () => {
      isWantedAgain = isAsking
      void run()
    },
    stop: () => {
      window.clearTimeout(timer)
      end.abort()
    },
  }
}

/** The wait that the server names, in milliseconds. */
function waitMs(fault: unknown): number {
  return fault instanceof LandpassError ? (fault.retryAfterS ?? 0) * 1_000 : 0
}
