import { AppError } from '../../errors.ts'
import { invalidSecret } from '../../http/validation.ts'

/** How an address names an event: by the issuer's number, or by the UUID that it has here. */
export type EventName = { readonly eventId: number } | { readonly uuid: string }

/** The issuer's numbers are 32-bit integers. */
export const MAX_EVENT_ID = 2 ** 31 - 1
export const UUID_PATTERN = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
const UUID = new RegExp(UUID_PATTERN)
const ALLOWED = `the issuer's event number (digits, at most ${MAX_EVENT_ID}) or the event's UUID`

/**
 * Reads the part of an address that names an event.
 *
 * @throws {AppError} `invalid_parameter` for anything else
 * @example
 * parseEventName('90001') // { eventId: 90001 }
 */
export function parseEventName(text: string): EventName {
  if (UUID.test(text)) return { uuid: text.toLowerCase() }
  if (/^\d{1,10}$/.test(text) && Number(text) <= MAX_EVENT_ID) return { eventId: Number(text) }
  // Whoever puts an edit code or a claim code into the address should not see it again in an answer.
  throw invalidSecret('event', text, ALLOWED)
}

/** The 404 of an event, which tells an organiser that the next step is the remedy. */
export function eventNotFound(name: EventName): AppError {
  const shown = 'eventId' in name ? `Event ${name.eventId}` : 'This event'
  return new AppError(
    'event_not_found',
    `${shown} is not registered here yet. If it is yours, register it with its edit code and coordinates.`,
    'eventId' in name ? { event_id: name.eventId } : { uuid: name.uuid },
  )
}
