import Type from 'typebox'
import { AppError } from '../../errors.ts'
import type { Routes } from '../../http/routes.ts'
import { okSchema, type Responses } from '../../http/schemas.ts'
import type { LimitHook, PlayerLimit } from '../limits.ts'
import { previewRealm } from '../rehearsal/preview-realm.ts'
import type { Rehearsals } from '../rehearsal/rehearsals.ts'
import { incomingRequestOf } from '../signed-fetch/incoming-request.ts'
import { SIGNATURE_ERRORS } from '../signed-fetch/signature-errors.ts'
import { SIGNED_FETCH } from '../signed-fetch/signature-headers.ts'
import type { IncomingRequest, SignedRequest } from '../signed-fetch/signed-request.ts'
import { UUID_PATTERN } from '../uuid.ts'
import type { Captchas } from './captchas.ts'
import { CAPTCHA_HEIGHT_PX, CAPTCHA_WIDTH_PX } from './draw-captcha.ts'
import { PROOF_ALGORITHM } from './proof-of-work.ts'

export interface CaptchaRouteOptions {
  readonly captchas: Captchas
  readonly signedFetch: {
    /** Verifies who signed a request. @throws {AppError} `not_signed`, `bad_signature`, … */
    verify(request: IncomingRequest): Promise<Pick<SignedRequest, 'address' | 'isPreview' | 'isGuest'>>
  }
  /** Whether previews get captchas. */
  readonly rehearsals: Pick<Rehearsals, 'isAnyOn'>
  /** Counts a request of a player. @throws {AppError} `too_many_requests` */
  readonly playerLimit: PlayerLimit
  /** Counts a request of a network address. @throws {AppError} `too_many_requests` */
  readonly clientLimit: LimitHook
  /** Counts a request for an image, by network address. @throws {AppError} `too_many_requests` */
  readonly imageLimit: LimitHook
  /** @throws {AppError} `attendance_not_configured` */
  readonly assertConfigured: () => void
}

const tags = ['claims']
const NO_STORE = { 'cache-control': 'no-store' }

const captchaSchema = Type.Object(
  {
    uuid: Type.String({ format: 'uuid', description: 'Where the image is: /captcha/:uuid.' }),
    width: Type.Literal(CAPTCHA_WIDTH_PX),
    height: Type.Literal(CAPTCHA_HEIGHT_PX),
    expires_at: Type.String({ format: 'date-time', description: 'Until when it can be answered.' }),
    proof_of_work: Type.Union(
      [
        Type.Object(
          {
            algorithm: Type.Literal(PROOF_ALGORITHM),
            bits: Type.Integer({ description: 'How many zero bits the hash must begin with.' }),
            challenge: Type.String({
              description:
                'The hash is that of challenge:event uuid:address:nonce, in lower case and decimal digits.',
            }),
          },
          { title: 'ProofOfWork' },
        ),
        Type.Null(),
      ],
      { description: 'Null where this server asks for none.' },
    ),
  },
  { title: 'Captcha' },
)

const uuidParams = Type.Object({
  uuid: Type.String({
    pattern: UUID_PATTERN,
    'x-allowed': 'a UUID: 32 hex digits, as 8-4-4-4-12',
    'x-withheld': true,
    description: 'As POST /captcha gave it.',
  }),
})

/** Captchas: a signed request makes one, every client with its uuid gets the image, the claim has the answer. */
export const captchaRoutes: Routes<CaptchaRouteOptions> = (
  app,
  { captchas, signedFetch, rehearsals, playerLimit, clientLimit, imageLimit, assertConfigured },
) => {
  app.post(
    '/captcha',
    {
      onRequest: clientLimit,
      schema: {
        tags,
        operationId: 'captcha',
        summary: 'A new captcha for the player who signed the request',
        description:
          'Signed fetch, without a body. One captcha is pending for each player: a new one replaces the one before.',
        security: [SIGNED_FETCH],
        responses: okSchema(captchaSchema, [
          'body_too_large',
          ...SIGNATURE_ERRORS,
          'preview_realm',
          'too_many_requests',
          'attendance_not_configured',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const { address, isPreview, isGuest } = await signedFetch.verify(incomingRequestOf(request))
      await playerLimit(request, reply, address)
      // The claim would be refused, after the player has solved the captcha. Nothing says for which event it is, so the
      // answer has no mark of a rehearsal
      if (isPreview && !(await rehearsals.isAnyOn())) throw previewRealm()
      const captcha = await captchas.create({ address, isPreview, isGuest })
      const data = captchaJson(captcha, captchas.proofOfWorkBits)
      return reply.headers(NO_STORE).send({ ok: true, data })
    },
  )

  app.get(
    '/captcha/:uuid',
    {
      compress: false,
      onRequest: imageLimit,
      schema: {
        tags,
        operationId: 'captchaImage',
        summary: 'The image of a captcha',
        description: `A PNG of ${CAPTCHA_WIDTH_PX} x ${CAPTCHA_HEIGHT_PX} pixels, for every client that knows the uuid: the world fetches images through its own servers.`,
        params: uuidParams,
        responses: pngSchema(),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const image = await captchas.findImage(request.params.uuid)
      if (image) return reply.headers(NO_STORE).type('image/png').send(image)
      const sentence = 'This captcha is unknown, used or expired. Ask for a new one.'
      throw new AppError('captcha_not_found', sentence)
    },
  )
}

type Created = Awaited<ReturnType<Captchas['create']>>

function captchaJson({ uuid, expiresAtMs }: Created, bits: number) {
  return {
    uuid,
    width: CAPTCHA_WIDTH_PX,
    height: CAPTCHA_HEIGHT_PX,
    expires_at: new Date(expiresAtMs).toISOString(),
    proof_of_work: bits === 0 ? null : { algorithm: PROOF_ALGORITHM, bits, challenge: uuid },
  } as const
}

function pngSchema(): Responses {
  const body = { schema: Type.Unsafe({ type: 'string', format: 'binary' }) }
  const image = { description: 'The image.', content: { 'image/png': body } }
  const failures = [
    'invalid_parameter',
    'captcha_not_found',
    'too_many_requests',
    'attendance_not_configured',
    'database_unavailable',
  ] as const
  return () => ({ ...okSchema(Type.Null(), failures)(), 200: image })
}
