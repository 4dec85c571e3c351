import Type from 'typebox'
import type { Db } from '../../db/engine.ts'
import { invalidSecret } from '../../http/validation.ts'
import type { LimitHook } from '../limits.ts'
import { UUID_PATTERN } from '../uuid.ts'
import type { EventName } from './event-name.ts'
import type { Organisers } from './organisers.ts'

/** The event in the path of a route. */
export const eventParams = Type.Object({
  event: Type.String({ description: "The issuer's event number, or the event's UUID here." }),
})

/** The issuer's numbers are 32-bit integers. */
export const MAX_EVENT_ID = 2 ** 31 - 1
const UUID = new RegExp(UUID_PATTERN)
const ALLOWED = `the issuer's event number (digits, at most ${MAX_EVENT_ID}) or the event's UUID`

/**
 * Parses the event in a path.
 *
 * @throws {AppError} `invalid_parameter` for any other text
 * @example
 * parseEventName('90001') // { eventId: 90001 }
 */
export function parseEventName(text: string): EventName {
  if (UUID.test(text)) return { uuid: text.toLowerCase() }
  if (/^\d{1,10}$/.test(text) && Number(text) <= MAX_EVENT_ID) return { eventId: Number(text) }
  // Whoever puts an edit code or a claim code into the address should not see it again in an answer.
  throw invalidSecret('event', text, ALLOWED)
}

/** The field that proves the organiser. Its value is never repeated in an answer. */
export const editCodeField = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-allowed': "the edit code from the issuer's e-mail, as text",
  'x-withheld': true,
  description:
    "The private edit code from the issuer's e-mail. Judged by the issuer each time, never stored.",
})

/** Error codes of every call with an edit code. */
export const ORGANISER_ERRORS = [
  'invalid_parameter',
  'invalid_body',
  'body_too_large',
  'wrong_edit_code',
  'too_many_requests',
  'too_many_guesses',
  'issuer_refused',
  'issuer_unavailable',
  'attendance_not_configured',
  'database_unavailable',
] as const

/** Options of the routes that only the organiser of an event may use. */
export interface OrganiserCallOptions {
  readonly db: Db
  readonly organisers: Pick<Organisers, 'assertEditCode'>
  readonly organiserLimit: LimitHook
  /** @throws {AppError} `attendance_not_configured` */
  readonly assertConfigured: () => void
}
