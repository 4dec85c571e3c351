import { type EventInfo, LandpassError } from '@landpass/client'
import { type Signal, signal } from '@preact/signals'
import { type Availability, askAvailability, findEvent } from '../api/attendance.ts'
import { serverNowMs } from '../api/server-clock.ts'
import { type Repetition, repeatWhileVisible } from './repeat-while-visible.ts'

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

export interface Following extends Repetition {
  readonly event: Signal<LiveEvent>
}

/**
 * Requests an event now and every few seconds, while the page is visible.
 *
 * @param name uuid or id
 */
export function followEvent(name: string): Following {
  const event = signal<LiveEvent>({ status: 'loading' })
  const repetition = repeatWhileVisible(REFRESH_MS, async (signal) => {
    const seen = await look(name, event.peek(), signal)
    if (!signal.aborted) event.value = seen
    return faultOf(seen)
  })
  return { event, ...repetition }
}

function faultOf(seen: LiveEvent): unknown {
  return seen.status === 'shown' || seen.status === 'failed' ? seen.error : undefined
}

async function look(name: string, before: LiveEvent, signal: AbortSignal): Promise<LiveEvent> {
  try {
    const [info, availability] = await Promise.all([findEvent(name, signal), askAvailability(name, signal)])
    if (!info) return { status: 'unknown' }
    return { status: 'shown', info, availability, atMs: serverNowMs() }
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
