import type { EventInfo, Report } from '@landpass/client'

type Availability = Report['availability']
type Reason = Availability['reason']

/** Reasons that lie in the event's own options, which a change can take away. */
const OF_OPTIONS: readonly Reason[] = ['event_disabled', 'event_not_open', 'event_closed']

/**
 * Whether players can claim after a change, as far as the event itself says it: the next report says the rest.
 *
 * @param before what the last report said
 * @param nowMs milliseconds since 1970
 */
export function availabilityAfter(event: EventInfo, before: Availability, nowMs: number): Availability {
  const reason = reasonAfter(event, before, nowMs)
  const ends = [event.distribution_end_date, event.expiry_date].filter((end) => end !== null)
  return {
    ...before,
    open: reason === null,
    reason,
    opens_at: event.distribution_start_date,
    closes_at: ends.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null,
  }
}

/** In the order of the server: what the organiser wants counts before what is missing. */
function reasonAfter(event: EventInfo, before: Availability, nowMs: number): Reason {
  const { distribution_start_date: start, distribution_end_date: end } = event
  if (!event.enabled) return 'event_disabled'
  if (before.reason === 'event_expired') return before.reason
  if (start !== null && nowMs < Date.parse(start)) return 'event_not_open'
  if (end !== null && nowMs >= Date.parse(end)) return 'event_closed'
  if (!OF_OPTIONS.includes(before.reason)) return before.reason
  if (before.available > 0) return null
  return before.total > 0 ? 'no_codes_left' : 'waiting_for_issuer'
}
