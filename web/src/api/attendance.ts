import { AskError, askJson } from './ask.ts'

/** The organiser's calls of the attendance interface (docs/attendance.md). The edit code goes into bodies alone. */

/** What we show of an event; everybody may see it. Times are ISO 8601 in UTC, null where unset. */
export interface EventInfo {
  /** The issuer's number. */
  readonly id: number
  /** Ours: what a booth takes as its event. */
  readonly uuid: string
  readonly name: string
  /** The first day, at midnight in UTC. */
  readonly event_start_date: string | null
  /** The last day, at midnight in UTC. */
  readonly event_end_date: string | null
  /** `x,y;x,y` */
  readonly coordinates: string
  readonly requires_presence: boolean
}

/** Why no token can be had. */
export type ClosedReason =
  | 'no_codes_loaded'
  | 'waiting_for_issuer'
  | 'no_codes_left'
  | 'event_disabled'
  | 'event_not_open'
  | 'event_closed'
  | 'event_expired'

export interface Availability {
  readonly open: boolean
  /** Null when open. */
  readonly reason: ClosedReason | null
  readonly total: number
  readonly available: number
  readonly claimed: number
  /** ISO 8601 in UTC; null for no limit. */
  readonly opens_at: string | null
  readonly closes_at: string | null
}

/** What loading the claim codes brought. */
export interface LoadedCodes {
  /** Those that are new. */
  readonly num: number
  readonly total: number
  readonly available: number
  readonly claimed: number
  /** The issuer has none yet: not a failure, every event begins so. */
  readonly waiting_for_issuer?: true
}

/** @param name the issuer's number or our uuid @returns undefined for an event that is not registered here */
export async function findEvent(name: string, signal?: AbortSignal): Promise<EventInfo | undefined> {
  try {
    return await askJson<EventInfo>(eventPath(name), { signal })
  } catch (error) {
    if (error instanceof AskError && error.code === 'event_not_found') return undefined
    throw error
  }
}

/** @param name the issuer's number or our uuid @throws {AskError} `event_not_found` and what any call can meet */
export function askAvailability(name: string, signal?: AbortSignal): Promise<Availability> {
  return askJson(`${eventPath(name)}/availability`, { signal })
}

/** Registers an event, or gives a registered one other places; its uuid stays. @throws {AskError} */
export function registerEvent(
  eventId: string,
  wish: { readonly editCode: string; readonly coordinates: string },
): Promise<EventInfo> {
  return askJson(eventPath(eventId), { method: 'POST', body: wish })
}

/** Has the server fetch the claim codes from the issuer. @throws {AskError} */
export async function loadCodes(eventId: string, editCode: string): Promise<LoadedCodes> {
  const path = `/addcodes/${encodeURIComponent(eventId)}`
  const { body } = await askJson<{ readonly body: LoadedCodes }>(path, { method: 'POST', body: { editCode } })
  return body
}

function eventPath(name: string): string {
  return `/event/${encodeURIComponent(name)}`
}
