import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { AppError } from '../../errors.ts'
import { bytesOfBody } from '../../http/json-body.ts'
import { okSchema } from '../../http/schemas.ts'
import { invalidSecret } from '../../http/validation.ts'
import type { AttendanceContext } from '../attendance-context.ts'
import type { UsedCaptcha } from '../captcha/captcha-queries.ts'
import { readCoordinates } from '../events/coordinates.ts'
import { eventInfoJson, eventInfoSchema } from '../events/event-json.ts'
import { parseEventName } from '../events/event-name.ts'
import type { Event } from '../events/event-queries.ts'
import { eventParams } from '../events/event-routes.ts'
import { assertOpen } from '../events/openness.ts'
import type { Limits } from '../limits.ts'
import type { SignedRequest } from '../signed-fetch/signed-request.ts'
import type { ServedClaim } from './claims.ts'

const ADDRESS = /^0[xX][0-9a-fA-F]{40}$/

const bodySchema = Type.Object({
  address: Type.Optional(
    Type.String({
      maxLength: 100,
      'x-allowed': 'an address: 0x and 40 hex digits',
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
  catalyst: Type.Optional(Type.Unknown({ description: 'Sent by older booths, and ignored.' })),
  room: Type.Optional(Type.Unknown({ description: 'Sent by older booths, and ignored.' })),
})
type ClaimBody = Static<typeof bodySchema>

const claimSchema = Type.Object({
  event: eventInfoSchema,
  claim: Type.Object({
    status: Type.Unsafe<'pending' | 'minting' | 'minted'>({
      type: 'string',
      enum: ['pending', 'minting', 'minted'],
      description:
        'pending: the issuer has not answered yet, the claim is safe and goes on by itself. minting: the issuer accepted. minted: the token is on the chain.',
    }),
    address: Type.String(),
    created_at: Type.String({ description: 'ISO 8601, UTC.' }),
    message: Type.String({ description: 'What happens next, for the player.' }),
  }),
})

/** A player gets a token: docs/architecture.md has the walk of it. */
export const claimRoutes: FastifyPluginCallbackTypebox<{
  attendance: AttendanceContext
  limits: Limits
}> = (app, { attendance, limits }, done) => {
  app.post(
    '/claim/:event',
    {
      onRequest: limits.clientLimit,
      schema: {
        tags: ['claims'],
        summary: 'Claim a token of an event, for the player who stands there',
        description:
          'Signed (signedFetch): the signer is the player. Unsigned, as older booths do: the player is the address in the body, proven by the answer to the captcha that this address asked for with a signature.',
        params: eventParams,
        body: bodySchema,
        response: okSchema(claimSchema, [
          'invalid_parameter',
          'invalid_body',
          'body_too_large',
          'not_signed',
          'bad_signature',
          'signature_expired',
          'signature_used',
          'wrong_signer',
          'contract_wallet_unsupported',
          'captcha_required',
          'wrong_captcha',
          'proof_of_work_required',
          'event_disabled',
          'event_not_open',
          'event_closed',
          'event_expired',
          'not_at_event',
          'preview_realm',
          'event_not_found',
          'already_claimed',
          'no_codes_left',
          'claim_refused',
          'too_many_requests',
          'presence_unavailable',
          'attendance_not_configured',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      attendance.assertConfigured()
      const event = await attendance.events.get(parseEventName(request.params.event))
      reply.header('cache-control', 'no-store')
      try {
        const claim = await claimToken(attendance, event, request, reply)
        attendance.onClaim(claim.state)
        return { ok: true as const, data: { event: eventInfoJson(event), claim: claimJson(claim) } }
      } catch (error) {
        const code = error instanceof AppError ? error.code : 'internal_error'
        attendance.onClaim(code)
        attendance.refusals.add(event.event_id, code)
        throw error
      }
    },
  )
  done()
}

/** Who claims, proven. */
interface Claimant {
  readonly address: string
  readonly isPreview: boolean
  /** The signed request, while nothing has used it up: {@link Claims.claim} does, together with its own work. */
  readonly request?: SignedRequest
  /** What the player solved for this claim. */
  readonly captcha?: UsedCaptcha
}

async function claimToken(
  attendance: AttendanceContext,
  event: Event,
  request: FastifyRequest<{ Body: ClaimBody }>,
  reply: FastifyReply,
): Promise<ServedClaim> {
  assertOpen(event, attendance.clock.nowMs())
  const { signedFetch, claims } = attendance
  const claimant = signedFetch.isSigned(request.headers)
    ? await proveBySignature(attendance, event, request, reply)
    : await proveByCaptcha(attendance, event, request, reply)
  try {
    await assertOnTheSpot(attendance, event, claimant)
  } catch (error) {
    if (claimant.request) await signedFetch.useUp(claimant.request)
    // Whoever has the token already may hear so anywhere.
    const repeated = await claims.findRepeated(event, claimant.address)
    if (repeated) return repeated
    throw error
  }
  return claims.claim(event, claimant.address, claimant.request)
}

/** The signed claim: the signer is the player. */
async function proveBySignature(
  attendance: AttendanceContext,
  event: Event,
  request: FastifyRequest<{ Body: ClaimBody }>,
  reply: FastifyReply,
): Promise<Claimant> {
  const { signedFetch, config } = attendance
  const signed = signedFetch.check(request)
  await attendance.countPlayer(request, reply, signed.address)
  const { address, isPreview } = signed
  const body = signedBody(signed, request)
  if (!event.requires_captcha && config.proofOfWorkBits === 0) return { address, isPreview, request: signed }
  await signedFetch.useUp(signed)
  return { address, isPreview, captcha: await solveOrProve(attendance, event, address, body) }
}

/** The unsigned claim of an older booth: the player is whoever asked for the captcha that this answer solves. */
async function proveByCaptcha(
  attendance: AttendanceContext,
  event: Event,
  request: FastifyRequest<{ Body: ClaimBody }>,
  reply: FastifyReply,
): Promise<Claimant> {
  const { address = '', captcha } = request.body
  if (!ADDRESS.test(address)) {
    throw invalidSecret('address', request.body.address, 'an address: 0x and 40 hex digits')
  }
  const player = address.toLowerCase()
  if (captcha === undefined) throw captchaMissing()
  const solved = await attendance.captchas.solve({
    address: player,
    eventId: event.event_id,
    answer: captcha,
  })
  // Only now: before, the address is a mere word, and anybody could use up what its owner may send.
  await attendance.countPlayer(request, reply, player)
  return { address: player, isPreview: solved.is_preview, captcha: solved }
}

function captchaMissing(): AppError {
  return new AppError(
    'captcha_required',
    'A captcha is needed to claim: please use an up-to-date booth, ask it for a new image, and type what it shows.',
  )
}

/**
 * The body of a signed claim, as far as the signature covers it.
 *
 * @throws {AppError} `bad_signature` when it names another player
 */
function signedBody(
  signer: { readonly address: string; readonly isBodySigned: boolean },
  request: FastifyRequest<{ Body: ClaimBody }>,
): ClaimBody {
  const { address } = request.body
  if (address !== undefined && address.toLowerCase() !== signer.address) {
    throw new AppError('bad_signature', 'The address in the body is not the one that signed the request.')
  }
  return signer.isBodySigned || bytesOfBody(request).length === 0 ? request.body : {}
}

/** What a signed claim must bring besides, by the event's settings and the server's. */
async function solveOrProve(
  { captchas }: AttendanceContext,
  event: Event,
  address: string,
  { captcha, proof }: ClaimBody,
): Promise<UsedCaptcha> {
  if (!event.requires_captcha) {
    return captchas.checkProof({ address, eventUuid: event.uuid, eventId: event.event_id, proof })
  }
  if (captcha === undefined) throw captchaMissing()
  return captchas.solve({ address, eventId: event.event_id, answer: captcha })
}

/** @throws {AppError} where the player is not, or cannot be seen to be, in the right place of the real world */
async function assertOnTheSpot(
  { presence, captchas }: AttendanceContext,
  event: Event,
  { address, isPreview, captcha }: Claimant,
): Promise<void> {
  if (isPreview) {
    throw new AppError(
      'preview_realm',
      'This scene runs in preview, where nobody can tell that you are in the world. Only a deployed scene can claim.',
    )
  }
  if (!event.requires_presence) return
  const result = await presence.find(address, readCoordinates(event.coordinates))
  if (result === 'present') return
  if (result === 'absent') {
    throw new AppError(
      'not_at_event',
      `You are not at the event: stand on ${placesText(event.coordinates)} and try again after a few seconds.`,
      { coordinates: event.coordinates },
    )
  }
  if (captcha) await captchas.giveBack(captcha)
  throw new AppError(
    'presence_unavailable',
    'Nobody can tell just now where you are in the world. It cost you nothing: please try again in a moment.',
  )
}

const SHOWN_PLACES = 3

/** The first few of them: a booth shows the sentence on a small panel. */
function placesText(coordinates: string): string {
  const places = coordinates.split(';')
  const shown = places.slice(0, SHOWN_PLACES).join(' or ')
  return places.length > SHOWN_PLACES ? `${shown} or one of ${places.length - SHOWN_PLACES} others` : shown
}

function claimJson({ state, address, created_at_ms }: ServedClaim) {
  const status = state === 'minting' || state === 'minted' ? state : ('pending' as const)
  return {
    status,
    address,
    created_at: new Date(created_at_ms).toISOString(),
    message:
      status === 'pending'
        ? 'Your token is reserved. The issuer has not answered yet; we keep asking, you need not do anything.'
        : 'The issuer is making your token. It takes a few minutes until it shows in your wallet.',
  }
}
