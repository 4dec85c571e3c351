import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../../errors.ts'
import { setHeaders } from '../../../../http/cross-origin.ts'
import { type ReadyAnswer, readyAnswer } from '../../../../http/ready-answers.ts'
import type { Routes } from '../../../../http/routes.ts'
import { streamSchema, withUnchanged } from '../../../../http/schemas.ts'
import { confirmedTag, freshnessHeaders } from '../../../../http/validators.ts'
import type { EventCache } from '../../../events/event-cache.ts'
import { eventParams, parsePublicEventName } from '../../../events/event-params.ts'
import type { LimitHook } from '../../../limits.ts'
import { tokenParams } from '../tokens/token-routes.ts'
import type { SharePictures } from './share-pictures.ts'
import type { TokenPicture, TokenPictures } from './token-pictures.ts'

const GROUP = 'claims'
const TYPE = 'image/png'
const BEFORE_ID = '/tokens/'
const AFTER_ID = '/image.png'

export interface TokenPictureRouteOptions {
  readonly events: Pick<EventCache, 'get'>
  readonly pictures: TokenPictures
  readonly shares: Pick<SharePictures, 'ofToken'>
  /** For pictures that are not in memory. */
  readonly imageLimit: LimitHook
  /** For pictures that have to be drawn. */
  readonly listLimit: LimitHook
  /** For pictures of links that have to be drawn. */
  readonly shareLimit: LimitHook
  /** Whether a request comes from the operator, who sees pictures before they are approved. */
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
}

/** Pictures of events that were made here, and of their tokens. */
export const tokenPictureRoutes: Routes<TokenPictureRouteOptions> = (
  app,
  { events, pictures, shares, imageLimit, listLimit, shareLimit, isOperator },
) => {
  app.get(
    '/tokens/:id/image.png',
    {
      compress: false,
      schema: {
        tags: [GROUP],
        operationId: 'attendanceTokenImage',
        summary: 'The picture of a token',
        params: tokenParams,
        responses: pictureSchema('token_not_found'),
      },
    },
    async (request, reply) => {
      const id = request.params.id.toLowerCase()
      if (!pictures.cached(id)) await imageLimit(request, reply)
      return sendPicture(request, reply, await pictures.ofToken(id, () => listLimit(request, reply)))
    },
  )

  app.get(
    '/tokens/:id/share.png',
    {
      compress: false,
      onRequest: imageLimit,
      schema: {
        tags: [GROUP],
        operationId: 'attendanceShareImage',
        summary: 'The picture of a link to a token: 1200 x 630 pixels',
        description:
          'The picture of the token itself where too many wait to be drawn, or one client asks for many.',
        params: tokenParams,
        responses: pictureSchema('token_not_found'),
      },
    },
    async (request, reply) => {
      const id = request.params.id.toLowerCase()
      const share = await shares.ofToken(id, () => shareLimit(request, reply)).catch(undefinedIfTooMany)
      if (share) return sendPicture(request, reply, share)
      // A link with a small picture is better than one without. It is sent uncached, so that the wide picture can follow later
      return sendUncached(reply, await pictures.ofToken(id, () => listLimit(request, reply)))
    },
  )

  app.get(
    '/events/:event/image.png',
    {
      compress: false,
      onRequest: imageLimit,
      schema: {
        tags: ['events'],
        operationId: 'eventImage',
        summary: 'The picture of an event that was made here',
        description: 'With the header Operator-Key also before the event is approved.',
        params: eventParams,
        querystring: Type.Object({
          change: Type.Boolean({
            default: false,
            description: 'For the operator: the picture of the change that waits, where it has one.',
          }),
        }),
        responses: pictureSchema('event_not_found'),
      },
    },
    async (request, reply) => {
      // Else a cache would answer the operator with the public picture
      reply.header('vary', 'operator-key')
      const event = await events.get(parsePublicEventName(request.params.event))
      const publicPicture = () => pictures.ofEvent(event, () => listLimit(request, reply))
      if (!isOperator(request)) return sendPicture(request, reply, await publicPicture())
      const waiting = await pictures.waitingOf(event, request.query.change)
      return sendUncached(reply, waiting ?? (await publicPicture()))
    },
  )
}

/** Ready answers with pictures, made once for each. */
export class ReadyPictures {
  private readonly pictures: Pick<TokenPictures, 'cached'>
  private readonly answers = new WeakMap<TokenPicture, ReadyAnswer>()
  constructor(pictures: Pick<TokenPictures, 'cached'>) {
    this.pictures = pictures
  }

  /** The ready answer for the address of a token's picture that is in memory. */
  find(url: string): ReadyAnswer | undefined {
    if (!url.startsWith(BEFORE_ID) || !url.endsWith(AFTER_ID)) return undefined
    const picture = this.pictures.cached(url.slice(BEFORE_ID.length, -AFTER_ID.length))
    if (!picture) return undefined
    const known = this.answers.get(picture)
    if (known) return known
    const answer = readyAnswer({ group: GROUP, headers: headersOf(picture), body: picture.png })
    this.answers.set(picture, answer)
    return answer
  }
}

function sendPicture(request: FastifyRequest, reply: FastifyReply, picture: TokenPicture): FastifyReply {
  const freshness = freshnessOf(picture)
  const copy = confirmedTag(request, freshness)
  if (copy !== undefined) return setHeaders(reply, freshnessHeaders(freshness, copy)).code(304).send()
  return setHeaders(reply, headersOf(picture)).send(picture.png)
}

function sendUncached(reply: FastifyReply, { png }: TokenPicture): FastifyReply {
  return reply.header('cache-control', 'no-store').type(TYPE).send(png)
}

/** Nothing, where the picture was not drawn because too many are. Other failures go on. */
function undefinedIfTooMany(error: unknown): undefined {
  const code = error instanceof AppError ? error.code : undefined
  if (code !== 'too_many_requests' && code !== 'too_many_pictures') throw error
}

function headersOf(picture: TokenPicture) {
  return [...freshnessHeaders(freshnessOf(picture)), 'content-type', TYPE]
}

function freshnessOf({ tag }: TokenPicture) {
  return { tag, cacheControl: 'public, max-age=300' }
}

function pictureSchema(...others: readonly ('token_not_found' | 'event_not_found')[]) {
  const body = Type.Unsafe({ type: 'string', format: 'binary' })
  return withUnchanged(
    streamSchema(TYPE, { description: 'The image.', body }, [
      'invalid_parameter',
      ...others,
      'too_many_requests',
      'database_unavailable',
    ]),
  )
}
