import { type EventInfo, LandpassError } from '@landpass/client'
import { type Signal, signal } from '@preact/signals'
import { type Availability, askAvailability, findEvent } from '../api/attendance.ts'
import { retryPauseMs } from '../api/retry-pause.ts'

/** Interval between requests while the page is visible and they succeed. */
const REFRESH_MS = 3_000

/**
 * The public data of an event, kept up to date.
 *
 * `loading`: nothing yet · `unknown`: there is no such event here · `shown`: as it was at `atMs` (since 1970); with an
 * `error` if a request failed since · `failed`: nothing yet, and the last request failed.
 */
export type LiveEvent =
  | { readonly status: 'loading' | 'unknown' }
  | {
      readonly status: 'shown'
      readonly info: EventInfo
      readonly availability: Availability
      readonly atMs: number
      readonly error?: unknown
    }
  | { readonly status: 'failed'; readonly error: unknown }

export interface Following {
  readonly event: Signal<LiveEvent>
  /** Requests the event now. */
  refresh(): void
  stop(): void
}

/**
 * Requests an event now and every few seconds, while the page is visible.
 *
 * @param name uuid or id
 */
export function followEvent(name: string): Following {
  const event = signal<LiveEvent>({ status: 'loading' })
  const end = new AbortController()
  let timer: number | undefined
  let isAsking = false
  let failures = 0

  const refresh = async () => {
    window.clearTimeout(timer)
    if (isAsking || document.hidden || end.signal.aborted) return
    isAsking = true
    const seen = await look(name, event.peek(), end.signal)
    isAsking = false
    if (end.signal.aborted) return
    event.value = seen
    const fault = faultOf(seen)
    failures = fault === undefined ? 0 : failures + 1
    const pauseMs = fault === undefined ? 0 : retryPauseMs(fault, failures)
    timer = window.setTimeout(refresh, Math.max(pauseMs, REFRESH_MS))
  }
  document.addEventListener('visibilitychange', refresh, { signal: end.signal })
  window.addEventListener('online', refresh, { signal: end.signal })
  void refresh()

  return {
    event,
    refresh: () => void refresh(),
    stop: () => {
      window.clearTimeout(timer)
      end.abort()
    },
  }
}

function faultOf(seen: LiveEvent): unknown {
  return seen.status === 'shown' || seen.status === 'failed' ? seen.error : undefined
}

async function look(name: string, before: LiveEvent, signal: AbortSignal): Promise<LiveEvent> {
  try {
    const [info, availability] = await Promise.all([findEvent(name, signal), askAvailability(name, signal)])
    if (!info) return { status: 'unknown' }
    return { status: 'shown', info, availability, atMs: Date.now() }
  } catch (error) {
    if (isUnknown(error)) return { status: 'unknown' }
    return before.status === 'shown' ? { ...before, error } : { status: 'failed', error }
  }
}

/** An invalid name is treated like an unknown event. */
function isUnknown(error: unknown): boolean {
  if (error instanceof RangeError) return true // the client refuses names that would change the path of the address
  return error instanceof LandpassError && ['event_not_found', 'invalid_parameter'].includes(error.code)
}
