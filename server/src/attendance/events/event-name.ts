import { AppError } from '../../errors.ts'
import { isOwnEvent, notMadeHere } from '../issuers/own/own-event-ids.ts'

/** How a path names an event: by the issuer's number, or by the UUID that this server made. */
export type EventName = { readonly eventId: number } | { readonly uuid: string }

/** The 404 of an event, with the next step for its organiser. */
export function eventNotFound(name: EventName): AppError {
  if ('eventId' in name && isOwnEvent(name.eventId)) return notMadeHere()
  const shown = 'eventId' in name ? `Event ${name.eventId}` : 'This event'
  return new AppError(
    'event_not_found',
    `${shown} is not registered here yet. If it is yours, register it with its edit code and coordinates.`,
    'eventId' in name ? { event_id: name.eventId } : { uuid: name.uuid },
  )
}
