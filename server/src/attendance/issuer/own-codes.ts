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
