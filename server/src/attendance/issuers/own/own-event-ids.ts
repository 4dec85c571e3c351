import { AppError } from '../../../errors.ts'

/** The other issuer's numbers are far below; the sequence `made_event_number` begins here. */
export const FIRST_OWN_EVENT_ID = 2_000_000_000

/** Whether an event was made here, by its number. */
export function isOwnEvent(eventId: number): boolean {
  return eventId >= FIRST_OWN_EVENT_ID
}

/** @throws {AppError} `event_not_found` for an event that was not made here */
export function assertOwnEvent(eventId: number): void {
  if (!isOwnEvent(eventId)) throw notMadeHere()
}

export function notMadeHere(): AppError {
  return new AppError('event_not_found', 'No event with this number was made on this server.')
}
