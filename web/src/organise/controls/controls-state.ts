import type { Report } from '@landpass/client'
import { claimsSince } from './claims-by-minute.ts'

/**
 * What the page of an event says first while it is live, and what to do next depends on.
 *
 * `held`: the issuer contradicts itself, so claims wait · `refused`: by the operator of this server · `waiting`: for codes, or for the operator · `short`: tokens are
 * left, but few · the others are as their names.
 */
export type ControlsState =
  | 'before'
  | 'open'
  | 'paused'
  | 'held'
  | 'refused'
  | 'waiting'
  | 'short'
  | 'given_out'
  | 'issuer_down'
  | 'presence_down'
  | 'ended'

/** Fewer than this part of all tokens is running short. */
const SHORT_PART = 0.1
/** Fewer tokens than players took in this time is running short. */
const SHORT_MINUTES = 10

/**
 * The state of an event. Where several are true the first of these counts: what keeps players from a token by the
 * organiser's will, then what keeps them from it otherwise, then what soon will.
 *
 * @param nowMs milliseconds since 1970
 * @param isIssuerDown the page itself got the answer that the issuer does not answer
 */
export function controlsState(report: Report, nowMs: number, isIssuerDown = false): ControlsState {
  const { availability, event, issuer, presence } = report
  switch (availability.reason) {
    case 'event_disabled':
      return 'paused'
    case 'event_not_open':
      return 'before'
    case 'event_cancelled':
    case 'event_closed':
    case 'event_expired':
      return 'ended'
    case 'event_held':
      return 'held'
    case 'event_refused':
      return 'refused'
    case 'waiting_for_issuer':
    case 'no_codes_loaded':
      return 'waiting'
    case 'no_codes_left':
      return 'given_out'
    default:
  }
  if (event.requires_presence && presence.status === 'failing') return 'presence_down'
  if (isIssuerDown || issuer.status === 'failing') return 'issuer_down'
  return isShort(report, nowMs) ? 'short' : 'open'
}

/**
 * Whether the tokens are running short: under a tenth is left, or less than the last ten minutes took.
 *
 * @param nowMs milliseconds since 1970
 */
export function isShort({ availability, minutes }: Report, nowMs: number): boolean {
  const { available, total } = availability
  return available < total * SHORT_PART || available < claimsSince(minutes, nowMs, SHORT_MINUTES)
}

/**
 * For how many minutes the tokens last at the pace of the last ten minutes, at least one; undefined where nobody claimed.
 *
 * @param nowMs milliseconds since 1970
 * @example
 * minutesLeft({ available: 30 }, twentyClaimsInTenMinutes, now) // 15
 */
export function minutesLeft({ availability, minutes }: Report, nowMs: number): number | undefined {
  const taken = claimsSince(minutes, nowMs, SHORT_MINUTES)
  return taken === 0 ? undefined : Math.max(1, Math.floor((availability.available * SHORT_MINUTES) / taken))
}
