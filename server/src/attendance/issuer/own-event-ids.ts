/** The other issuer's numbers are far below; the sequence `made_event_number` begins here. */
export const FIRST_OWN_EVENT_ID = 2_000_000_000

/** Whether an event was made here, by its number. */
export function isOwnEvent(eventId: number): boolean {
  return eventId >= FIRST_OWN_EVENT_ID
}
