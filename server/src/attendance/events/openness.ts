import { AppError } from '../../errors.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import { spanText } from '../span-text.ts'
import type { CodeCounts, Event } from './event-queries.ts'

/** Why an event gives out no tokens: `reason` of `GET /event/:uuid/availability`. */
export type ClosedReason =
  | 'event_refused'
  | 'event_cancelled'
  | 'event_disabled'
  | 'event_not_open'
  | 'event_closed'
  | 'event_expired'
  | 'event_held'
  | 'waiting_for_issuer'
  | 'no_codes_loaded'
  | 'no_codes_left'

/** When an event's tokens are given out: from `opensAtMs` on, and before `closesAtMs`; undefined is no limit. */
export interface Window {
  readonly opensAtMs: number | undefined
  readonly closesAtMs: number | undefined
}

/** The organiser's window, cut off at the expiry of the event at the issuer. */
export function windowOf(event: Event): Window {
  const ends = [event.distribution_end_at_ms, event.expires_at_ms].filter((end) => end !== null)
  return {
    opensAtMs: event.distribution_start_at_ms ?? undefined,
    closesAtMs: ends.length === 0 ? undefined : Math.min(...ends),
  }
}

/** Why the event gives out no tokens at a time, without regard to codes. What the organiser decided is checked first. */
export function closedReason(event: Event, nowMs: number): ClosedReason | undefined {
  if (event.is_cancelled) return 'event_cancelled'
  if (!event.enabled) return 'event_disabled'
  if (event.expires_at_ms !== null && nowMs >= event.expires_at_ms) return 'event_expired'
  if (event.distribution_start_at_ms !== null && nowMs < event.distribution_start_at_ms)
    return 'event_not_open'
  if (event.distribution_end_at_ms !== null && nowMs >= event.distribution_end_at_ms) return 'event_closed'
  return undefined
}

/** Why no code is free; undefined when one is. */
export function codesReason(event: Event, counts: CodeCounts): ClosedReason | undefined {
  if (counts.free > 0) return undefined
  if (counts.held + counts.used + counts.used_elsewhere + counts.void > 0) return 'no_codes_left'
  return event.codes_asked_at_ms === null ? 'no_codes_loaded' : 'waiting_for_issuer'
}

/** @throws {AppError} when the event gives out no tokens now */
export function assertOpen(event: Event, nowMs: number): void {
  const { opensAtMs, closesAtMs } = windowOf(event)
  switch (closedReason(event, nowMs)) {
    case 'event_cancelled':
      throw eventCancelled()
    case 'event_disabled':
      throw new AppError('event_disabled', 'The organiser has paused this event. Please try again later.')
    case 'event_not_open':
      throw new AppError(
        'event_not_open',
        `This event is not open yet. Come back in ${spanText(opensAtMs! - nowMs, Math.ceil)} for your token.`,
        { opens_at: isoText(opensAtMs) },
      )
    case 'event_closed':
      throw new AppError(
        'event_closed',
        `You are too late: this event gave out tokens until ${spanText(nowMs - closesAtMs!, Math.floor)} ago.`,
        { closed_at: isoText(closesAtMs) },
      )
    case 'event_expired':
      throw eventExpired(event)
    default:
  }
}

/** Whether claims from a preview of the scene are rehearsed at a time. */
export function isRehearsing({ rehearsal_until_ms: untilMs }: Event, nowMs: number): boolean {
  return untilMs !== null && nowMs < untilMs
}

/**
 * For rehearsals before an event: it may still be paused, and need not have begun.
 *
 * @throws {AppError} `event_cancelled`, `event_closed`, `event_expired` when it gives out no tokens any more
 */
export function assertNotOver(event: Event, nowMs: number): void {
  assertOpen({ ...event, enabled: true, distribution_start_at_ms: null }, nowMs)
}

/** The error for an event that its organiser has cancelled. */
export function eventCancelled(): AppError {
  return new AppError(
    'event_cancelled',
    'The organiser has cancelled this event, so it gives out no tokens. Please ask the organiser.',
  )
}

/** The error for an event that was made here, and that the operator has refused. */
export function eventRefused(): AppError {
  return new AppError(
    'event_refused',
    'The operator of this server has refused this event, so it gives out no tokens. Please ask the organiser.',
  )
}

/** The error for an expired event, found by the stored expiry or by an answer of the issuer. */
export function eventExpired({ event_id: eventId }: Pick<Event, 'event_id'>): AppError {
  return new AppError(
    'event_expired',
    isOwnEvent(eventId)
      ? 'This event is over: its last day has ended everywhere on Earth, and it gives out no more tokens.'
      : 'This event has expired at the token issuer, which makes no more tokens of it.',
  )
}

export function isoText(timeMs: number | null | undefined): string | null {
  return timeMs === null || timeMs === undefined ? null : new Date(timeMs).toISOString()
}
