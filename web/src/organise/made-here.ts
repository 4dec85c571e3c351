/** The server gives numbers from here on to events that it makes (a test compares the two). */
export const FIRST_OWN_EVENT_ID = 2_000_000_000

/** Whether an event was made on this server, by its number. */
export function isMadeHere(event: { readonly id: number }): boolean {
  return event.id >= FIRST_OWN_EVENT_ID
}
