import Type from 'typebox'
import type { Db } from '../../db/engine.ts'
import { invalidParameter, invalidSecret } from '../../http/validation.ts'
import type { LimitHook } from '../limits.ts'
import { UUID_PATTERN } from '../uuid.ts'
import type { EventName } from './event-name.ts'
import type { Organisers } from './organisers.ts'

/** What the routes of one event have in common: its name in the address, the edit code in the body. */
export const eventParams = Type.Object({
  event: Type.String({
    title: 'EventName',
    description: "The issuer's event number, or the event's UUID here.",
  }),
})

/** The issuer's numbers are 32-bit integers. */
export const MAX_EVENT_ID = 2 ** 31 - 1
const UUID = new RegExp(UUID_PATTERN)
const ALLOWED = `the issuer's event number (digits, at most ${MAX_EVENT_ID}) or the event's UUID`

/**
 * Reads the part of an address that names an event, for a call that also takes a secret. What was sent is not shown
 * in the error: it may be the edit code or a claim code, put into the wrong place.
 *
 * @throws {AppError} `invalid_parameter` for anything else
 * @example
 * parseEventName('90001') // { eventId: 90001 }
 */
export function parseEventName(text: string): EventName {
  const name = findEventName(text)
  if (!name) throw invalidSecret('event', text, ALLOWED)
  return name
}

/**
 * Like {@link parseEventName}, for a call that only reads and takes no secret: the error shows what was sent.
 *
 * @throws {AppError} `invalid_parameter`
 */
export function parsePublicEventName(text: string): EventName {
  const name = findEventName(text)
  if (!name) throw invalidParameter('event', text, ALLOWED)
  return name
}

function findEventName(text: string): EventName | undefined {
  if (UUID.test(text)) return { uuid: text.toLowerCase() }
  if (/^\d{1,10}$/.test(text) && Number(text) <= MAX_EVENT_ID) return { eventId: Number(text) }
  return undefined
}

/** Who proves to be the organiser: everywhere the same field, whose value is never said again. */
export const editCodeField = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-allowed': "the edit code from the issuer's e-mail, as text",
  'x-withheld': true,
  description:
    "The private edit code from the issuer's e-mail. Judged by the issuer each time, never stored.",
})

/** The body of a call that needs nothing but the edit code. */
export const editCodeBody = Type.Object({ editCode: editCodeField }, { title: 'EditCodeRequest' })

/** What every call with an edit code can answer besides. */
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

/** What every call needs that only the organiser of an event may make. */
export interface OrganiserCallOptions {
  readonly db: Db
  readonly organisers: Pick<Organisers, 'assertEditCode'>
  readonly organiserLimit: LimitHook
  /** @throws {AppError} `attendance_not_configured` */
  readonly assertConfigured: () => void
}
