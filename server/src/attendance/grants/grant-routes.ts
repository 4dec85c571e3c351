import Type, { type Static } from 'typebox'
import { SECOND_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { bytesOfBody } from '../../http/json-body.ts'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { invalidSecret } from '../../http/validation.ts'
import { addressText, GIVEN_ADDRESS, orNull } from '../../schema-parts.ts'
import {
  credentialFields,
  eventOfOrganiser,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  passField,
  passIn,
} from '../events/event-params.ts'
import { isoText } from '../events/openness.ts'
import type { EventGrantLimit, LimitHook } from '../limits.ts'
import { parseRequestTime } from '../request-time.ts'
import { UUID_PATTERN } from '../uuid.ts'
import type { Grant } from './grant-queries.ts'
import { type Grants, MAX_GRANT_DAYS } from './grants.ts'

/** The largest body of a grant. */
const BODY_LIMIT_BYTES = 1024
const MAX_KEEP_S = MAX_GRANT_DAYS * 24 * 3600
const MAX_NONCE_BYTES = 128
const ALLOWED_NONCE = `a text of 1 to ${MAX_NONCE_BYTES} bytes in UTF-8`
/** Not storable, half of a character, or in place of bytes that are no UTF-8: two such nonces would become one. */
const UNSTORABLE = /[\0\ufffd\p{Surrogate}]/u
const SIGNATURE_HEADER = 'landpass-signature'

/** How openapi.json names the header of a signed grant. */
export const GRANT_SIGNATURE_HEADER = {
  grantSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Landpass-Signature',
    description:
      'HMAC-SHA256 as 64 hex digits, over the uuid of the event in lower case, a line feed and the exact bytes of the body. The key is the text of the secret.',
  },
} as const

const secretBody = Type.Object(
  {
    ...credentialFields,
    keepPreviousS: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_KEEP_S,
        description: 'For so many seconds the secret before stays valid too; 0 if left out.',
      }),
    ),
    withdrawOpen: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'true: all grants that no claim has used are withdrawn.',
      }),
    ),
  },
  { title: 'GrantSecretRequest' },
)
const secretSchema = Type.Object(
  {
    uuid: Type.String({ description: 'The event, as grants are sent to /grants/:uuid.' }),
    secret: Type.String({ description: 'Keep it as you keep a password: it is shown once.' }),
    previous_ends_at: orNull(Type.String({ description: 'When the secret before ends: ISO 8601, UTC.' })),
    withdrawn: Type.Integer({ description: 'How many grants were withdrawn; 0 without `withdrawOpen`.' }),
    ...passField,
  },
  { title: 'GrantSecret' },
)

const grantParams = Type.Object({
  uuid: Type.String({
    pattern: UUID_PATTERN,
    'x-allowed': "the event's UUID: 32 hex digits, as 8-4-4-4-12",
    'x-withheld': true,
    description: "The event's UUID here.",
  }),
})
/** Errors show none of the values: the secret may have slipped into one. */
const grantBody = Type.Object(
  {
    address: Type.String({
      ...GIVEN_ADDRESS,
      'x-withheld': true,
      description: 'The player who may claim.',
    }),
    nonce: Type.String({
      minLength: 1,
      maxLength: MAX_NONCE_BYTES,
      'x-allowed': ALLOWED_NONCE,
      'x-withheld': true,
      description: `Your name of this grant, unique in the event: ${ALLOWED_NONCE}.`,
    }),
    expires: Type.String({
      maxLength: 40,
      'x-allowed': 'a date and time with its time zone in RFC 3339, of at most 40 characters',
      'x-withheld': true,
      description: `Until when the player may claim: RFC 3339, at most ${MAX_GRANT_DAYS} days ahead.`,
    }),
  },
  { title: 'GrantRequest' },
)
const grantSchema = Type.Object(
  {
    event: Type.String({ description: "The event's UUID." }),
    address: addressText(),
    nonce: Type.String(),
    expires: Type.String({ description: 'ISO 8601, UTC.' }),
  },
  { title: 'Grant', description: 'The same answer for the same grant, however often it is sent.' },
)

export interface GrantRouteOptions extends OrganiserCallOptions {
  readonly grants: Pick<Grants, 'makeSecret' | 'findSigner' | 'give'>
  /** The report of the event counts its grants anew. */
  readonly forgetReport: (eventId: number) => void
  readonly grantLimit: LimitHook
  readonly eventGrantLimit: EventGrantLimit
  /** Called for every grant whose body can be read, with the result or the error code. */
  readonly onGrant: (result: string) => void
}

/** The secret of an event, for its organiser, and grants from the organiser's own server. */
export const grantRoutes: Routes<GrantRouteOptions> = (
  app,
  {
    db,
    organisers,
    grants,
    forgetReport,
    organiserLimit,
    grantLimit,
    eventGrantLimit,
    onGrant,
    assertConfigured,
  },
) => {
  app.post(
    '/event/:event/grant-secret',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'makeGrantSecret',
        summary: "Make the secret with which the organiser's own server signs grants",
        params: eventParams,
        body: secretBody,
        responses: okSchema(secretSchema, [...ORGANISER_ERRORS, 'event_not_found']),
      },
    },
    async (request, reply) => {
      const { event, newPass } = await eventOfOrganiser(request, { db, organisers, assertConfigured })
      const { event_id: eventId, uuid } = event
      const { keepPreviousS = 0, withdrawOpen = false } = request.body
      const change = { keepPreviousMs: keepPreviousS * SECOND_MS, withdrawsOpen: withdrawOpen }
      const making = grants.makeSecret(eventId, change).finally(() => forgetReport(eventId))
      const { secret, previousEndsAtMs, withdrawn } = await making
      reply.header('cache-control', 'no-store')
      const data = { uuid, secret, previous_ends_at: isoText(previousEndsAtMs), withdrawn }
      return { ok: true as const, data: { ...data, ...passIn(reply, newPass) } }
    },
  )

  app.post(
    '/grants/:uuid',
    {
      onRequest: grantLimit,
      bodyLimit: BODY_LIMIT_BYTES,
      schema: {
        tags: ['events'],
        operationId: 'sendGrant',
        summary: "Allow a player to claim a token: for the organiser's own server, which signs the request",
        description:
          'Safe to repeat: the same grant gets the same answer and counts once. Another grant with its nonce is refused.',
        security: [{ grantSignature: [] }],
        params: grantParams,
        body: grantBody,
        responses: okSchema(grantSchema, [
          'invalid_parameter',
          'invalid_body',
          'body_too_large',
          'bad_grant',
          'nonce_used',
          'too_many_grants',
          'too_many_requests',
          'attendance_not_configured',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const uuid = request.params.uuid.toLowerCase()
      try {
        const signed = { uuid, body: bytesOfBody(request), signature: request.headers[SIGNATURE_HEADER] }
        const { eventId, secretId } = await grants.findSigner(signed)
        await eventGrantLimit(request, reply, eventId)
        const grant = readGrant(eventId, request.body)
        onGrant(await grants.give(grant, secretId, request.body.expires))
        return { ok: true as const, data: grantJson(uuid, grant) }
      } catch (error) {
        onGrant(resultOf(error))
        throw error
      }
    },
  )
}

/** The error code. That the whole server takes no more is another result: only its operator can do something about it. */
function resultOf(error: unknown): string {
  if (!(error instanceof AppError)) return 'internal_error'
  const isServerFull = error.code === 'too_many_grants' && error.data.limit === 'server'
  return isServerFull ? 'too_many_grants_of_server' : error.code
}

/** @throws {AppError} `invalid_parameter` for a nonce that cannot be stored as it is, and a text that is no time */
function readGrant(eventId: number, { address, nonce, expires }: Static<typeof grantBody>): Grant {
  if (Buffer.byteLength(nonce) > MAX_NONCE_BYTES || UNSTORABLE.test(nonce)) {
    throw invalidSecret('nonce', nonce, ALLOWED_NONCE)
  }
  const expiresAtMs = parseRequestTime('expires', expires)
  return { eventId, address: address.toLowerCase(), nonce, expiresAtMs }
}

function grantJson(uuid: string, { address, nonce, expiresAtMs }: Grant) {
  return { event: uuid, address, nonce, expires: new Date(expiresAtMs).toISOString() }
}
