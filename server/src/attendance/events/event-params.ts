import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Db } from '../../db/engine.ts'
import { clientAddress } from '../../http/client-address.ts'
import { invalidParameter, invalidSecret } from '../../http/validation.ts'
import type { LimitHook } from '../limits.ts'
import type { NewPass } from '../organisers/organiser-passes.ts'
import type { Credentials, Organisers } from '../organisers/organisers.ts'
import { UUID_PATTERN } from '../uuid.ts'
import type { EventName } from './event-name.ts'
import { type Event, getEvent } from './event-queries.ts'

/** The event in the path of a route. */
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
 * Parses the event in a path, for a call that also takes a secret. The error does not show what was sent: it may be an
 * edit code or a claim code in the wrong place.
 *
 * @throws {AppError} `invalid_parameter` for any other text
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

/** The field that proves the organiser. Its value is never repeated in an answer. */
export const editCodeField = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-allowed': 'the edit code of the event, as text of 1 to 64 characters',
  'x-withheld': true,
  description: "The private edit code: from the issuer's e-mail, or from the answer of `POST /events`.",
})

/** The fields of every call with an edit code. */
export const credentialFields = {
  editCode: editCodeField,
  pass: Type.Optional(
    Type.String({
      maxLength: 200,
      'x-allowed': 'the pass from an earlier answer, as text',
      'x-withheld': true,
      description:
        'From `organiser_pass` of an earlier answer; also as header Organiser-Pass. An invalid one is ignored.',
    }),
  ),
  proof: Type.Optional(
    Type.String({
      maxLength: 200,
      'x-allowed': '<challenge>:<nonce>, as text',
      'x-withheld': true,
      description:
        'The solved `proof_of_work` of a refusal with `too_many_guesses`: challenge:nonce, whose SHA-256 hash begins with so many zero bits. The nonce is decimal. Counts once.',
    }),
  ),
}

/** The body of a call that needs nothing but the edit code. */
export const editCodeBody = Type.Object(credentialFields, { title: 'EditCodeRequest' })

/** In answers to a client without a pass, or with one that ends soon. */
export const passField = {
  organiser_pass: Type.Optional(
    Type.Object(
      {
        pass: Type.String({
          description: 'Send it with the next calls of this event. It gives no right.',
        }),
        expires_at: Type.String({ description: 'ISO 8601, UTC.' }),
      },
      {
        title: 'OrganiserPass',
        description: 'For clients that sent the edit code without a pass; also as header Organiser-Pass.',
      },
    ),
  ),
}

const PASS_HEADER = 'organiser-pass'

/** What a request carries to show that it comes from the organiser. */
export function credentialsOf(
  request: Pick<FastifyRequest, 'headers' | 'ip' | 'socket'> & { readonly body: Omit<Credentials, 'from'> },
): Credentials {
  const inHeader = request.headers[PASS_HEADER]
  const { editCode, pass = typeof inHeader === 'string' ? inHeader : undefined, proof } = request.body
  return { editCode: editCode.trim(), pass, proof, from: clientAddress(request) }
}

/** Sets the header for a new pass. @returns the same pass as a field of the answer's data; no field without one */
export function passIn(
  reply: { header(name: string, value: string): unknown },
  newPass: NewPass | undefined,
): { readonly organiser_pass?: NewPass } {
  if (!newPass) return {}
  reply.header(PASS_HEADER, newPass.pass)
  return { organiser_pass: newPass }
}

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

/** The body and the path of a call that only the organiser of an event may make. */
type OrganiserRequest = Parameters<typeof credentialsOf>[0] & { readonly params: { readonly event: string } }

/**
 * The registered event that a request names, once its edit code is known to be right.
 *
 * @throws {AppError} `attendance_not_configured`, `invalid_parameter`, `event_not_found`, and those of a wrong edit code
 */
export async function eventOfOrganiser(
  request: OrganiserRequest,
  { db, organisers, assertConfigured }: Omit<OrganiserCallOptions, 'organiserLimit'>,
): Promise<{ readonly event: Event; readonly newPass: NewPass | undefined }> {
  assertConfigured()
  const event = await getEvent(db, parseEventName(request.params.event))
  const newPass = await organisers.assertEditCode(event.event_id, credentialsOf(request))
  return { event, newPass }
}
