import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Clock } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { clientAddress } from '../../http/client-address.ts'
import type { BaseOf } from '../../http/public-base.ts'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { invalidSecret } from '../../http/validation.ts'
import { GIVEN_ADDRESS } from '../../schema-parts.ts'
import type { EventCache } from '../events/event-cache.ts'
import { eventInfoJson, eventInfoSchema } from '../events/event-json.ts'
import { eventParams, parseEventName } from '../events/event-params.ts'
import { isRehearsing } from '../events/openness.ts'
import type { LimitHook, PlayerLimit } from '../limits.ts'
import type { Presence } from '../presence/presence.ts'
import { markRehearsal, rehearsalField } from '../rehearsal/rehearsal-mark.ts'
import { incomingRequestOf } from '../signed-fetch/incoming-request.ts'
import { SIGNED_FETCH } from '../signed-fetch/signature-headers.ts'
import type { SignedFetch } from '../signed-fetch/signed-fetch.ts'
import { CLAIM_ERRORS } from './claim-errors.ts'
import { CLAIM_MESSAGES } from './claim-messages.ts'
import type { ClaimQueue, QueueOfClaims } from './claim-queue.ts'
import type { ClaimRules } from './claim-rules.ts'
import type { ClaimProof } from './claimant.ts'
import type { ServedClaim } from './claims.ts'
import type { Refusals } from './refusals.ts'
import { isRehearsal } from './rehearsed-refusals.ts'

/** What rehearsed claims are counted as in the metrics. */
const REHEARSAL = 'rehearsal'
const ADDRESS = new RegExp(GIVEN_ADDRESS.pattern)

const bodySchema = Type.Object(
  {
    address: Type.Optional(
      Type.String({
        maxLength: 100,
        'x-allowed': GIVEN_ADDRESS['x-allowed'],
        'x-withheld': true,
        description: 'The player. Needed in unsigned claims; in signed ones it must be the signer.',
      }),
    ),
    captcha: Type.Optional(
      Type.String({
        maxLength: 100,
        'x-allowed': 'the letters of the captcha, as text',
        'x-withheld': true,
        description: 'What the player reads in the image of the pending captcha, in any letter case.',
      }),
    ),
    proof: Type.Optional(
      Type.String({
        maxLength: 64,
        'x-allowed': 'digits, as text',
        'x-withheld': true,
        description: 'Proof of work of a signed claim, where the server asks for one.',
      }),
    ),
    rehearse: Type.Optional(
      Type.String({
        maxLength: 64,
        'x-allowed': 'an error code, as text',
        'x-withheld': true,
        description: 'In a rehearsal: the error code that the answer shall have. Else ignored.',
      }),
    ),
    catalyst: Type.Optional(Type.Unknown({ description: 'Sent by older booths, and ignored.' })),
    room: Type.Optional(Type.Unknown({ description: 'Sent by older booths, and ignored.' })),
  },
  { title: 'ClaimRequest' },
)
type ClaimBody = Static<typeof bodySchema>

const claimSchema = Type.Object({
  event: eventInfoSchema,
  claim: Type.Object(
    {
      status: Type.Unsafe<'pending' | 'minting' | 'minted'>({
        type: 'string',
        enum: ['pending', 'minting', 'minted'],
        description:
          'pending: the issuer has not answered yet; the claim goes on by itself. minting: the issuer accepted. minted: the token is on the chain.',
      }),
      address: Type.String(),
      created_at: Type.String({ description: 'ISO 8601, UTC.' }),
      message: Type.String({ description: 'What happens next, for the player.' }),
      queue_length: Type.Optional(
        Type.Integer({ description: 'While pending: how many claims of all events wait for the issuer.' }),
      ),
      retry_after_s: Type.Optional(
        Type.Integer({
          description:
            'While pending: in about so many seconds the issuer has answered; also in Retry-After.',
        }),
      ),
    },
    { title: 'Claim' },
  ),
  ...rehearsalField,
})

export interface ClaimRouteOptions {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly events: Pick<EventCache, 'get'>
  readonly signedFetch: Pick<SignedFetch, 'isSigned' | 'check'>
  readonly presence: Presence
  readonly rules: Pick<ClaimRules, 'claim'>
  /** How long players wait for the issuer. */
  readonly queue: Pick<ClaimQueue, 'look'>
  /** Counts refusals for the organiser's report. */
  readonly refusals: Pick<Refusals, 'add'>
  /** Called once for every answer, with the state of the claim, the error code, or `rehearsal`. */
  readonly onClaim: (result: string) => void
  readonly baseOf: BaseOf
  readonly clientLimit: LimitHook
  readonly playerLimit: PlayerLimit
  /** @throws {AppError} `attendance_not_configured` */
  readonly assertConfigured: () => void
}

/** A player claims a token: attendance/README.md follows the request step by step. */
export const claimRoutes: Routes<ClaimRouteOptions> = (app, options) => {
  const { clock, events, signedFetch, presence, rules, refusals, onClaim, baseOf } = options
  app.post(
    '/claim/:event',
    {
      onRequest: options.clientLimit,
      schema: {
        tags: ['claims'],
        operationId: 'claim',
        summary: 'Claim a token of an event, for the player who stands there',
        description:
          'Signed (signedFetch): the signer is the player. Unsigned, as older booths do: the player is the address in the body, proven by the answer to the captcha that this address asked for with a signature. From a preview of the scene only while the event rehearses (rehearsal_until); then no token is made.',
        security: [SIGNED_FETCH, {}],
        params: eventParams,
        body: bodySchema,
        responses: okSchema(claimSchema, CLAIM_ERRORS),
      },
    },
    async (request, reply) => {
      options.assertConfigured()
      const event = await events.get(parseEventName(request.params.event))
      reply.header('cache-control', 'no-store')
      try {
        const claim = await rules.claim({
          event,
          proof: () => readProof(request, signedFetch),
          place: (address, places) => presence.find(address, places),
          countPlayer: (address) => options.playerLimit(request, reply, address),
          rehearse: request.body.rehearse,
        })
        const mark = claim.isRehearsal ? markRehearsal(reply) : {}
        onClaim(claim.isRehearsal ? REHEARSAL : claim.state)
        const queue = claim.state === 'reserved' ? await options.queue.look(event.event_id) : undefined
        if (queue) reply.header('retry-after', queue.waitS)
        const info = eventInfoJson(event, baseOf(request))
        const data = { event: info, claim: claimJson(claim, queue), ...mark }
        return { ok: true as const, data }
      } catch (error) {
        if (isRehearsal(error)) {
          markRehearsal(reply)
          onClaim(REHEARSAL)
          throw error
        }
        const code = error instanceof AppError ? error.code : 'internal_error'
        onClaim(code)
        // An older booth in a preview begins like this too: nothing says so before it has a captcha
        const isUnclear =
          code === 'captcha_required' &&
          !signedFetch.isSigned(incomingRequestOf(request)) &&
          isRehearsing(event, clock.nowMs())
        if (!isUnclear) refusals.add(event.event_id, code)
        throw error
      }
    },
  )
}

/** @throws {AppError} when the signature is wrong, or an unsigned claim has no address */
async function readProof(
  request: FastifyRequest<{ Body: ClaimBody }>,
  signedFetch: ClaimRouteOptions['signedFetch'],
): Promise<ClaimProof> {
  const { body } = request
  const incoming = incomingRequestOf(request)
  const from = clientAddress(request)
  if (signedFetch.isSigned(incoming)) {
    return { kind: 'signed-request', signed: await signedFetch.check(incoming), body, from }
  }
  const { address = '', captcha } = body
  if (!ADDRESS.test(address)) throw invalidSecret('address', body.address, GIVEN_ADDRESS['x-allowed'])
  return { kind: 'captcha', address: address.toLowerCase(), answer: captcha, from }
}

function claimJson(claim: ServedClaim, queue: QueueOfClaims | undefined) {
  const { state, address, created_at_ms } = claim
  const status = state === 'minting' || state === 'minted' ? state : ('pending' as const)
  return {
    status,
    address,
    created_at: new Date(created_at_ms).toISOString(),
    message: claim.isRehearsal ? REHEARSED_MESSAGE : CLAIM_MESSAGES[status],
    ...(queue && { queue_length: queue.length, retry_after_s: queue.waitS }),
  }
}

const REHEARSED_MESSAGE = 'At the event this claim brings a token. This was a rehearsal, so none was made.'
