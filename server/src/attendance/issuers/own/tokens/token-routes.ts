import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Db } from '../../../../db/engine.ts'
import { AppError } from '../../../../errors.ts'
import { clientAddress } from '../../../../http/client-address.ts'
import { QUERY_UNITS } from '../../../../http/cost-account.ts'
import type { BaseOf } from '../../../../http/public-base.ts'
import { readyAnswer } from '../../../../http/ready-answers.ts'
import type { Routes } from '../../../../http/routes.ts'
import { okSchema, streamSchema } from '../../../../http/schemas.ts'
import { GIVEN_ADDRESS } from '../../../../schema-parts.ts'
import type { EventCache } from '../../../events/event-cache.ts'
import { eventParams, parsePublicEventName } from '../../../events/event-params.ts'
import { type Event, getEvent } from '../../../events/event-queries.ts'
import type { LimitHook } from '../../../limits.ts'
import type { Organisers } from '../../../organisers/organisers.ts'
import { UUID_PATTERN } from '../../../uuid.ts'
import { findLogPlace } from '../log/token-log-queries.ts'
import { assertOwnEvent, isOwnEvent } from '../own-event-ids.ts'
import { tokenPackage } from '../signing/token-message.ts'
import { countPoaps, poapSchema, poapsOfAddress } from './poap-claim-queries.ts'
import type { TokenAnswers } from './token-answers.ts'
import {
  gateJson,
  gateSchema,
  holdersCsv,
  listedTokenSchema,
  listedTokens,
  metadataJson,
  metadataSchema,
  tokenJson,
  tokenSchema,
} from './token-json.ts'
import {
  getToken,
  holdersOfEvent,
  tokenOfAnyEvent,
  tokenOfPlayer,
  tokensOfAddress,
  tokensOfEvent,
} from './token-list-queries.ts'

const tags = ['claims']
/** The edit code of an organiser, for a list that is not public. */
const EDIT_CODE_HEADER = 'edit-code'
const PRIVATE = 'no-store'
/** Galleries and gates ask often; a token changes only when it is revoked. */
const SHORT = 'max-age=60'
const JSON_TYPE = 'application/json; charset=utf-8'
/** What a token costs: mostly the compression of its link to the explorer. */
const TOKEN_UNITS = 16
/** In place of an event: all of this server. */
const ANY_EVENT = 'any'
const MAX_LIMIT = 1_000

export const tokenParams = Type.Object({
  id: Type.String({
    title: 'TokenUuid',
    pattern: UUID_PATTERN,
    'x-allowed': 'a UUID',
    description: 'The UUID of the token.',
  }),
})
const holderAddress = Type.String({
  ...GIVEN_ADDRESS,
  description: 'In any letter case.',
})
const pageQuery = Type.Object({
  limit: Type.Integer({ minimum: 0, maximum: MAX_LIMIT, default: 100 }),
  offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
})
const pageOf = Type.Object({
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
  tokens: Type.Array(listedTokenSchema),
})
const collectionPage = Type.Object({
  ...pageOf.properties,
  poaps_total: Type.Integer(),
  poaps: Type.Array(poapSchema, {
    description: 'Tokens of events of POAP that were claimed here, with the same limit and offset.',
  }),
})
const TOKEN_ERRORS = ['invalid_parameter', 'token_not_found', 'database_unavailable'] as const
const HOLDER_ERRORS = ['holders_hidden', 'wrong_edit_code', 'too_many_requests'] as const
const EVENT_ERRORS = ['invalid_parameter', 'event_not_found', 'database_unavailable'] as const

export interface TokenRouteOptions {
  readonly db: Db
  readonly events: Pick<EventCache, 'get'>
  /** Whether the list of holders of an event is public. */
  readonly showsHolders: (eventId: number) => Promise<boolean>
  readonly baseOf: BaseOf
  readonly tokenAnswers: Pick<TokenAnswers, 'forgotten' | 'keepGate' | 'page'>
  readonly organisers: Pick<Organisers, 'assertEditCode'>
  /** For requests with an edit code. */
  readonly organiserLimit: LimitHook
  /** For lists of tokens. */
  readonly listLimit: LimitHook
}

/** Tokens that this server signed, for holders, galleries and gates. */
export const tokenRoutes: Routes<TokenRouteOptions> = (app, options) => {
  const { db, events, baseOf, tokenAnswers, listLimit } = options

  app.get(
    '/tokens/:id',
    {
      config: { cost: TOKEN_UNITS },
      schema: {
        tags,
        operationId: 'attendanceToken',
        summary: 'A token that this server signed',
        params: tokenParams,
        responses: okSchema(tokenSchema, TOKEN_ERRORS),
      },
    },
    async (request, reply) => {
      const token = await getToken(db, request.params.id)
      reply.header('cache-control', SHORT)
      const event = await events.get({ eventId: token.eventId })
      return { ok: true as const, data: await tokenJson(token, event, await findLogPlace(db, token.id)) }
    },
  )

  app.get(
    '/tokens/:id/metadata',
    {
      config: { cost: QUERY_UNITS },
      schema: {
        tags,
        operationId: 'attendanceMetadata',
        summary: 'A token as galleries read it (ERC-721)',
        params: tokenParams,
        responses: streamSchema(
          'application/json',
          { description: 'Done.', body: metadataSchema },
          TOKEN_ERRORS,
        ),
      },
    },
    async (request, reply) => {
      const token = await getToken(db, request.params.id)
      const event = await events.get({ eventId: token.eventId })
      return sendJson(reply, metadataJson(token, event, baseOf(request)))
    },
  )

  app.get(
    '/tokens/:id/attestation',
    {
      config: { cost: QUERY_UNITS },
      schema: {
        tags,
        operationId: 'attestation',
        summary: 'A token as public tools check it: docs/tokens.md',
        params: tokenParams,
        responses: streamSchema(
          'application/json',
          { description: 'Done.', body: Type.Object({ sig: Type.Object({}), signer: Type.String() }) },
          TOKEN_ERRORS,
        ),
      },
    },
    async (request, reply) => {
      const token = await getToken(db, request.params.id)
      reply.header('content-disposition', `inline; filename="${token.id}.eas.txt"`)
      return sendJson(reply, tokenPackage(token, token))
    },
  )

  app.get(
    '/addresses/:address/tokens',
    {
      onRequest: listLimit,
      schema: {
        tags,
        operationId: 'tokensOf',
        summary: 'Tokens that an address holds, newest first, and tokens of POAP that it claimed here',
        params: Type.Object({ address: holderAddress }),
        querystring: pageQuery,
        responses: okSchema(collectionPage, [
          'invalid_parameter',
          'too_many_requests',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      const { query } = request
      const address = request.params.address.toLowerCase()
      const bytes = await tokenAnswers.page(`${address} ${query.limit} ${query.offset}`, async () => {
        const { total, found } = await tokensOfAddress(db, address, query)
        const poaps = await poapsOfAddress(db, address, query)
        const { count: poaps_total = 0 } = (await countPoaps(db, address)) ?? {}
        const data = { total, ...query, tokens: await listedTokens(found), poaps_total, poaps }
        return Buffer.from(JSON.stringify({ ok: true, data }))
      })
      return sendText(reply, bytes)
    },
  )

  app.get(
    '/events/:event/holders',
    {
      onRequest: listLimit,
      schema: {
        tags,
        operationId: 'holders',
        summary: 'Tokens of an event with their holders, by number',
        description: 'Where the organiser has hidden them, the header Edit-Code shows them.',
        params: eventParams,
        querystring: pageQuery,
        responses: okSchema(pageOf, [...EVENT_ERRORS, ...HOLDER_ERRORS]),
      },
    },
    async (request, reply) => {
      const { event, isPublic } = await shownEvent(request, reply, options)
      const { total, found } = await tokensOfEvent(db, event.event_id, request.query)
      reply.header('cache-control', isPublic ? SHORT : PRIVATE)
      return { ok: true as const, data: { total, ...request.query, tokens: await listedTokens(found) } }
    },
  )

  app.get(
    '/events/:event/holders.csv',
    {
      onRequest: listLimit,
      schema: {
        tags,
        operationId: 'holdersCsv',
        summary: 'All holders of an event as CSV',
        params: eventParams,
        responses: streamSchema('text/csv', { description: 'Done.', body: Type.String() }, [
          ...EVENT_ERRORS,
          ...HOLDER_ERRORS,
        ]),
      },
    },
    async (request, reply) => {
      const { event, isPublic } = await shownEvent(request, reply, options)
      const headers = {
        'cache-control': isPublic ? SHORT : PRIVATE,
        'content-disposition': `attachment; filename="holders-${event.event_id}.csv"`,
      }
      const csv = Readable.from(holdersCsv(holdersOfEvent(db, event.event_id)), { objectMode: false })
      return reply.headers(headers).type('text/csv; charset=utf-8').send(csv)
    },
  )

  app.get(
    '/events/:event/holders/:address',
    {
      config: { cost: QUERY_UNITS },
      schema: {
        tags,
        operationId: 'attended',
        summary: 'Whether an address holds a token of an event (`any`: of this server), for other services',
        params: Type.Object({ ...eventParams.properties, address: holderAddress }),
        responses: streamSchema('application/json', { description: 'Done.', body: gateSchema }, EVENT_ERRORS),
      },
    },
    async (request, reply) => {
      const { event: name, address } = request.params
      const holder = address.toLowerCase()
      if (name === ANY_EVENT)
        return sendJson(reply, gateJson(await tokenOfAnyEvent(db, holder), await countPoaps(db, holder)))
      const { event_id: eventId } = await events.get(parsePublicEventName(name))
      const { forgotten } = tokenAnswers
      const answered = isOwnEvent(eventId)
        ? gateJson(await tokenOfPlayer(db, eventId, holder))
        : gateJson(undefined, await countPoaps(db, holder, eventId))
      const text = JSON.stringify(answered)
      if (answered.since !== undefined) {
        const headers = ['cache-control', SHORT, 'content-type', JSON_TYPE]
        const answer = readyAnswer({ group: tags[0]!, headers, body: Buffer.from(text) })
        tokenAnswers.keepGate(request.url, answer, forgotten)
      }
      return sendText(reply, text)
    },
  )
}

/** @throws {AppError} `event_not_found`, `holders_hidden`, `wrong_edit_code`, `too_many_requests` */
async function shownEvent(
  request: FastifyRequest<{ Params: { event: string } }>,
  reply: FastifyReply,
  { db, showsHolders, organisers, organiserLimit }: TokenRouteOptions,
): Promise<{ readonly event: Event; readonly isPublic: boolean }> {
  const event = await getEvent(db, parsePublicEventName(request.params.event))
  assertOwnEvent(event.event_id)
  if (await showsHolders(event.event_id)) return { event, isPublic: true }
  const editCode = request.headers[EDIT_CODE_HEADER]
  if (typeof editCode !== 'string')
    throw new AppError('holders_hidden', 'The list of the holders of this event is not public.')
  await organiserLimit(request, reply)
  await organisers.assertEditCode(event.event_id, {
    ...{ editCode: editCode.trim(), pass: undefined, proof: undefined },
    from: clientAddress(request),
  })
  return { event, isPublic: false }
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return sendText(reply, JSON.stringify(body))
}

/** @param text of JSON, or its bytes */
function sendText(reply: FastifyReply, text: string | Buffer): FastifyReply {
  return reply.header('cache-control', SHORT).type(JSON_TYPE).send(text)
}
