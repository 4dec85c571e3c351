import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { Coord } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { AppError, type ErrorCode } from '../../errors.ts'
import { send } from '../../http/answer.ts'
import { HIDDEN, imageSchema } from '../../http/schemas.ts'
import { areaAround, centredOn, countParcels, fittedTo, MAX_PARCELS, outsideOf } from '../../map/frame.ts'
import { parcelsOfEstate } from '../../state/parts/estate-members.ts'
import type { LandContext } from '../common/land-context.ts'
import { assertInWorld, coordParams, idParams, placeParams, readPlace } from '../common/parameters.ts'
import {
  frameQuery,
  placeQuery,
  readCenter,
  readFrame,
  readSelected,
  readStyle,
  styleQuery,
} from './image-parameters.ts'
import type { AskedAddress, Pictures, Wish } from './pictures.ts'

export interface PictureRouteOptions {
  readonly land: LandContext
  readonly pictures: Pictures
}

const tags = ['map']
const assetQuery = Type.Object({ ...frameQuery, ...styleQuery })
type AssetQuery = Static<typeof assetQuery>

/** The images of the land (interfaces.md, 4.2): around a place, of a parcel, of an estate. */
export const imageRoutes: FastifyPluginCallbackTypebox<PictureRouteOptions> = (
  app,
  { land, pictures },
  done,
) => {
  const { world } = land

  app.get(
    '/map.png',
    {
      compress: false,
      schema: {
        tags,
        operationId: 'mapImage',
        summary: 'An image of the land around a place',
        description:
          'North is up. Neighbours of one estate or one district join; others are parted by a gap.',
        querystring: Type.Object({ ...frameQuery, ...placeQuery(world), ...styleQuery }),
        response: drawnSchema(['invalid_parameter']),
      },
    },
    (request, reply) => {
      const { query } = request
      const frame = readFrame(query)
      const { theme, showsSales } = readStyle(query)
      const origin = centredOn(areaAround([readCenter(world, query.center)]), frame)
      const view = { ...frame, ...origin, selected: readSelected(world, query.selected), theme }
      return answerImage(request, reply, pictures, { view, showsSales })
    },
  )

  const answerParcel = (request: FastifyRequest, reply: FastifyReply, query: AssetQuery, parcel: Coord) => {
    const frame = readFrame(query)
    const { theme, showsSales } = readStyle(query)
    const view = { ...frame, ...centredOn(areaAround([parcel]), frame), selected: [parcel], theme }
    return answerImage(request, reply, pictures, { view, showsSales })
  }

  app.get(
    '/parcels/:x/:y/map.png',
    {
      compress: false,
      schema: {
        tags,
        operationId: 'parcelImage',
        summary: 'An image of a parcel: in the middle, and selected',
        params: coordParams(world),
        querystring: assetQuery,
        response: drawnSchema(['invalid_parameter']),
      },
    },
    (request, reply) => answerParcel(request, reply, request.query, assertInWorld(world, request.params)),
  )

  app.get(
    '/parcels/:place/map.png',
    { compress: false, schema: { ...HIDDEN, params: placeParams, querystring: assetQuery } },
    (request, reply) =>
      answerParcel(request, reply, request.query, readPlace(world, 'x,y', request.params.place)),
  )

  app.get(
    '/estates/:id/map.png',
    {
      compress: false,
      schema: {
        tags,
        operationId: 'estateImage',
        summary: 'An image of an estate: in the middle, all of its parcels selected',
        description:
          'Zoomed out, down to one pixel a parcel, until the estate fits. An estate without parcels is a picture of the ground outside the world.',
        params: idParams('id', 'Estate id.', 'EstateId'),
        querystring: assetQuery,
        response: drawnSchema(['invalid_parameter', 'estate_not_found']),
      },
    },
    (request, reply) => {
      const { parts } = land.state()
      const id = request.params.id!
      const row = land.state().estateRow(id)
      if (row < 0) throw new AppError('estate_not_found', 'There is no estate with this id.', { id })
      const asked = readFrame(request.query)
      const { theme, showsSales } = readStyle(request.query)
      const selected = parcelsOfEstate(parts.parcels, row)
      const area = selected.length > 0 ? areaAround(selected) : undefined
      const frame = area ? fittedTo(area, asked) : asked
      const origin = area ? centredOn(area, frame) : outsideOf(world.bounds, frame)
      return answerImage(request, reply, pictures, {
        view: { ...frame, ...origin, selected, theme },
        showsSales,
      })
    },
  )
  done()
}

function answerImage(
  request: FastifyRequest,
  reply: FastifyReply,
  pictures: Pictures,
  wish: Wish,
): FastifyReply | Promise<FastifyReply> {
  const parcels = countParcels(wish.view)
  if (parcels > MAX_PARCELS) return refuseTooMany(reply, parcels)
  return send(request, reply, pictures.answer(wish, addressOf(request)))
}

/** The address of a request as it came, under which the next one may find its answer ready. */
export function addressOf({ routeOptions, raw }: FastifyRequest): AskedAddress {
  return { route: routeOptions.url ?? '', url: raw.url ?? '' }
}

/** The one failure that is not in the envelope: a status and a sentence that its callers know (interfaces.md, 7). */
function refuseTooMany(reply: FastifyReply, parcels: number): FastifyReply {
  return reply
    .code(500)
    .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .send(
      `Too many parcels. You are trying to render ${parcels} parcels and the maximum allowed is ${MAX_PARCELS}.`,
    )
}

/** An image, or its two ways to fail with status 500. */
function drawnSchema(errors: readonly ErrorCode[]): Record<string, TSchema> {
  const responses = imageSchema(errors)
  const failure = responses[500] as TSchema & { description: string; content: object }
  const tooMany = Type.String({
    description: `Too many parcels: at most ${MAX_PARCELS} fit into a picture.`,
    examples: [
      `Too many parcels. You are trying to render 42436 parcels and the maximum allowed is ${MAX_PARCELS}.`,
    ],
  })
  const both = Type.Unsafe({
    description: `${failure.description} As text: the picture would show too many parcels.`,
    content: { ...failure.content, 'text/plain': { schema: tooMany } },
  })
  return { ...responses, 500: both }
}
