import {
  type Availability as AnsweredAvailability,
  attendance,
  type Call,
  type EventInfo,
  LandpassError,
} from '@landpass/client'
import { send } from './client.ts'

/** The calls of the attendance interface as the pages want them. */

/** Why players cannot get a token now. */
export type ClosedReason =
  | 'no_codes_loaded'
  | 'waiting_for_issuer'
  | 'no_codes_left'
  | 'event_disabled'
  | 'event_not_open'
  | 'event_closed'
  | 'event_expired'
  | 'event_held'
  | 'event_refused'
  | 'event_cancelled'

/** The server's answer, with `reason` limited to the reasons that the pages have a text for. */
export type Availability = Omit<AnsweredAvailability, 'reason'> & { readonly reason: ClosedReason | null }

/** @param name the issuer's number or our uuid @returns undefined for an event that is not registered here */
export async function findEvent(name: string, signal?: AbortSignal): Promise<EventInfo | undefined> {
  try {
    return await send(attendance.event(name), signal)
  } catch (error) {
    if (error instanceof LandpassError && error.code === 'event_not_found') return undefined
    throw error
  }
}

/** @param name the issuer's number or our uuid @throws {LandpassError} `event_not_found`, or an error of any call */
export async function askAvailability(name: string, signal?: AbortSignal): Promise<Availability> {
  return await send(attendance.availability(name) as Call<Availability>, signal)
}

/** The event to which an edit code belongs, as the server describes it. */
export type CheckedEvent = NonNullable<ReturnType<typeof attendance.checkEditCode>['answer']>
