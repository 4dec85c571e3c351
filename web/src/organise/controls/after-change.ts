import type { attendance, EventInfo, Report } from '@landpass/client'

type Availability = Report['availability']
type Reason = Availability['reason']

/** Reasons that lie in the event's own options, which a change can take away. */
const OF_OPTIONS: readonly Reason[] = ['event_disabled', 'event_not_open', 'event_closed']

/**
 * What is known after a change of the options: the event as the answer says it, and what follows from it. The next report
 * says the rest.
 *
 * @param before the last report
 * @param nowMs milliseconds since 1970
 */
export function reportAfter(
  before: Report,
  event: EventInfo,
  { rehearsal_until: rehearsalUntil }: Pick<attendance.EventChange, 'rehearsal_until'>,
  nowMs: number,
): Report {
  const changed = { ...before.event, ...event }
  // A rehearsal that begins counts anew, also while another one is on
  const beginsRehearsal = typeof rehearsalUntil === 'string'
  return {
    ...before,
    event: changed,
    availability: availabilityAfter(changed, before, nowMs),
    ...(beginsRehearsal && { rehearsal: { claims: 0, refusals: 0 } }),
  }
}

/** Whether players can claim after a change, as far as the event itself and the last report say it. */
function availabilityAfter(
  event: EventInfo,
  { availability: before, alarms }: Report,
  nowMs: number,
): Availability {
  const isHeld = alarms.some(({ held_since }) => held_since !== null)
  const reason = reasonAfter(event, before, { isHeld, nowMs })
  const ends = [event.distribution_end_date, event.expiry_date].filter((end) => end !== null)
  return {
    ...before,
    open: reason === null,
    reason,
    opens_at: event.distribution_start_date,
    closes_at: ends.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null,
  }
}

interface Known {
  /** While the event was paused or closed, only the alarms of the report say so. */
  readonly isHeld: boolean
  readonly nowMs: number
}

/** In the order of the server: after the operator's refusal, what the organiser wants counts before what is missing. */
function reasonAfter(event: EventInfo, before: Availability, { isHeld, nowMs }: Known): Reason {
  const { distribution_start_date: start, distribution_end_date: end } = event
  if (before.reason === 'event_refused') return before.reason
  if (event.cancelled) return 'event_cancelled'
  if (!event.enabled) return 'event_disabled'
  if (before.reason === 'event_expired') return before.reason
  if (start !== null && nowMs < Date.parse(start)) return 'event_not_open'
  if (end !== null && nowMs >= Date.parse(end)) return 'event_closed'
  if (isHeld) return 'event_held'
  if (!OF_OPTIONS.includes(before.reason)) return before.reason
  if (before.available > 0) return null
  return before.total > 0 ? 'no_codes_left' : 'waiting_for_issuer'
}
