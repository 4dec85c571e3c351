import {
  type Attestation,
  MAINNET_DOMAIN,
  packageJson,
  revocationListAttestation,
  toHex,
} from '@landpass/client/tokens'
import Type from 'typebox'
import type { Clock } from '../../../../clock.ts'
import { SmallBody } from '../../../../http/compressed-bodies.ts'
import type { Routes } from '../../../../http/routes.ts'
import { okSchema, streamSchema } from '../../../../http/schemas.ts'
import { sendShared } from '../../../../http/send.ts'
import { invalidParameter } from '../../../../http/validation.ts'
import { OneSecondCache } from '../../../../work/one-second-cache.ts'
import {
  credentialFields,
  credentialsOf,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
} from '../../../events/event-params.ts'
import type { TokenKeys } from '../keys/token-keys.ts'
import { isPlainLine } from '../made-events/event-texts.ts'
import type { TokenAnswers } from '../tokens/token-answers.ts'
import { listedTokenJson, listedTokenSchema } from '../tokens/token-json.ts'
import { getToken } from '../tokens/token-list-queries.ts'
import { tokenParams } from '../tokens/token-routes.ts'
import { listRevocations, revokeToken } from './revocation-queries.ts'

const MAX_REASON = 200
/** The time in the list changes in steps of so many seconds, so that caches can share an answer. */
const STEP_S = 60

export interface RevocationRouteOptions extends OrganiserCallOptions {
  readonly clock: Clock
  readonly keys: Pick<TokenKeys, 'signer' | 'sign'>
  readonly tokenAnswers: Pick<TokenAnswers, 'forget'>
}

/** Takes tokens back, and publishes which ones. */
export const revocationRoutes: Routes<RevocationRouteOptions> = (app, options) => {
  const { db, clock, organisers, organiserLimit, assertConfigured } = options
  const lists = new OneSecondCache<SmallBody>()
  app.post(
    '/tokens/:id/revocation',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'revokeToken',
        summary: 'The organiser takes a token back, for good',
        params: tokenParams,
        body: Type.Object(
          {
            ...credentialFields,
            reason: Type.String({
              minLength: 1,
              maxLength: MAX_REASON,
              description: 'Everyone can read it.',
            }),
          },
          { title: 'RevocationRequest' },
        ),
        responses: okSchema(listedTokenSchema, [...ORGANISER_ERRORS, 'token_not_found']),
      },
    },
    async (request) => {
      assertConfigured()
      const { reason } = request.body
      if (!isPlainLine(reason) || reason.trim() === '')
        throw invalidParameter('reason', reason, 'a text without control and direction characters')
      const { id, eventId } = await getToken(db, request.params.id)
      await organisers.assertEditCode(eventId, credentialsOf(request))
      await revokeToken(db, { eventId, id }, { atS: Math.floor(clock.nowMs() / 1000), reason })
      lists.forget('all')
      options.tokenAnswers.forget()
      return { ok: true as const, data: listedTokenJson(await getToken(db, id)) }
    },
  )

  app.get(
    '/.well-known/attendance-revocations.json',
    {
      schema: {
        tags: ['claims'],
        operationId: 'revocations',
        summary: 'Tokens that were taken back, signed',
        responses: streamSchema(
          'application/json',
          {
            description: 'Done.',
            body: Type.Object(
              {
                revoked: Type.Array(
                  Type.Object({
                    uid: Type.String(),
                    signer: Type.String(),
                    since: Type.Integer({ description: 'Seconds since 1970.' }),
                    reason: Type.String(),
                  }),
                ),
                proof: Type.Object(
                  { sig: Type.Object({}), signer: Type.String() },
                  { description: 'A package that attests the list and its time: docs/tokens.md.' },
                ),
              },
              { title: 'Revocations' },
            ),
          },
          ['attendance_not_configured', 'database_unavailable'],
        ),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const body = await lists.get('all', async () => new SmallBody(Buffer.from(await signedList(options))))
      reply
        .headers({ 'cache-control': `max-age=${STEP_S}`, vary: 'accept-encoding' })
        .type('application/json')
      return sendShared(request, reply, body)
    },
  )
}

/**
 * The signed list. Its time is the begin of the current minute, or, if that is later, the time of the last revocation or the
 * time from which the key signs.
 */
async function signedList({ db, clock, keys }: RevocationRouteOptions): Promise<string> {
  const signer = await keys.signer()
  const nowS = Math.floor(clock.nowMs() / 1000)
  const revoked = await listRevocations(db)
  const atS = Math.max(nowS - (nowS % STEP_S), revoked.at(-1)?.since ?? 0, signer.fromS)
  const attestation: Attestation = revocationListAttestation(revoked, atS)
  return JSON.stringify({ revoked, proof: proofOf(attestation, signer.address, keys) })
}

function proofOf(attestation: Attestation, signer: string, keys: RevocationRouteOptions['keys']) {
  const bytes = keys.sign(signer, attestation)
  return packageJson({
    domain: MAINNET_DOMAIN,
    attestation,
    signature: { r: toHex(bytes.subarray(0, 32)), s: toHex(bytes.subarray(32, 64)), v: bytes[64]! },
    signer,
  })
}
