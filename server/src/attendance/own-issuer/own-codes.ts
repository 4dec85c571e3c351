/** The other issuer's numbers are far below; the sequence `made_event_number` begins here. */
export const FIRST_OWN_EVENT_ID = 2_000_000_000

/** Whether an event was made here, by its number. */
export function isOwnEvent(eventId: number): boolean {
  return eventId >= FIRST_OWN_EVENT_ID
}

/** One token of an event: what a claim takes. Unlike the codes of the other issuer it is no secret: only a claim uses it. */
export interface OwnCode {
  readonly eventId: number
  /** From 1 on. */
  readonly number: number
}

/**
 * A code as claims hold it.
 *
 * @example
 * ownCode({ eventId: 2_000_000_007, number: 12 }) // 'own:2000000007:12'
 */
export function ownCode({ eventId, number }: OwnCode): string {
  return `own:${eventId}:${number}`
}

/** Undefined for a code of the other issuer. */
export function parseOwnCode(code: string): OwnCode | undefined {
  const [, eventId, number] = /^own:(\d{10}):(\d{1,9})$/.exec(code) ?? []
  return eventId === undefined ? undefined : { eventId: Number(eventId), number: Number(number) }
}
