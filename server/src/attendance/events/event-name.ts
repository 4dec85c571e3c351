import { AppError } from '../../errors.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'

/** How a path names an event: by the issuer's number, or by the UUID that this server made. */
export type EventName = { readonly eventId: number } | { readonly uuid: string }

/** The 404 of an event, with the next step for its organiser. */
export function eventNotFound(name: EventName): AppError {
  if ('uuid' in name) {
    const sentence = 'No event on this server has this UUID: it was deleted, or is of another server.'
    return new AppError('event_not_found', sentence, { uuid: name.uuid })
  }
  const { eventId } = name
  const sentence = isOwnEvent(eventId)
    ? `There is no event ${eventId} on this server: it was deleted, or never made.`
    : `Event ${eventId} is not registered here yet. If it is yours, register it with its edit code and coordinates.`
  return new AppError('event_not_found', sentence, { event_id: eventId })
}
