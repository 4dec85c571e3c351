import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { type Coord, isInWorld } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { AppError, type ErrorCode } from '../../errors.ts'
import { send } from '../../http/answer.ts'
import { groupOf } from '../../http/metrics.ts'
import { HIDDEN, imageSchema } from '../../http/schemas.ts'
import { areaAround, centredOn, countParcels, fittedTo, MAX_PARCELS, outsideOf } from '../../map/frame.ts'
import { parcelsOfEstate } from '../../state/parts/estate-members.ts'
import type { LandContext } from '../common/land-context.ts'
import {
  assertKnownPlace,
  coordParams,
  coordTextParams,
  idParams,
  readKnownPlace,
} from '../common/parameters.ts'
import {
  frameQuery,
  placeQuery,
  readCenter,
  readFrame,
  readSelected,
  readStyle,
  styleQuery,
} from './image-parameters.ts'
import type { PictureRequest, Pictures, RequestedAddress } from './pictures.ts'

export interface PictureRouteOptions {
  readonly land: LandContext
  readonly pictures: Pictures
}

const tags = ['map']
const assetQuery = Type.Object({ ...frameQuery, ...styleQuery })
type AssetQuery = Static<typeof assetQuery>

/** The map images: around coordinates, of a parcel, of an estate. */
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
        summary: 'An image of the land around a parcel',
        description:
          'North is up. Neighbours in the same estate or district are drawn joined, others with a gap between them.',
        querystring: Type.Object({ ...frameQuery, ...placeQuery(world), ...styleQuery }),
        response: drawnSchema(['invalid_parameter']),
      },
    },
    (request, reply) => {
      const { query } = request
      const frame = readFrame(query)
      const { theme, showsOffers } = readStyle(query)
      const origin = centredOn(areaAround([readCenter(world, query.center)]), frame)
      const view = { ...frame, ...origin, selected: readSelected(world, query.selected), theme }
      return answerImage(request, reply, pictures, { view, showsOffers })
    },
  )

  const answerParcel = (request: FastifyRequest, reply: FastifyReply, query: AssetQuery, parcel: Coord) => {
    const frame = readFrame(query)
    const { theme, showsOffers } = readStyle(query)
    const view = { ...frame, ...centredOn(areaAround([parcel]), frame), selected: [parcel], theme }
    return answerImage(request, reply, pictures, { view, showsOffers })
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
    (request, reply) => answerParcel(request, reply, request.query, assertKnownPlace(land, request.params)),
  )

  app.get(
    '/parcels/:place/map.png',
    { compress: false, schema: { ...HIDDEN, params: coordTextParams, querystring: assetQuery } },
    (request, reply) =>
      answerParcel(request, reply, request.query, readKnownPlace(land, 'x,y', request.params.place)),
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
          'Zoomed out until the estate fits, down to one pixel per parcel. For an estate without parcels, the image shows the ground outside the world.',
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
      const { theme, showsOffers } = readStyle(request.query)
      const selected = parcelsOfEstate(parts.parcels, row).filter((parcel) => isInWorld(world, parcel))
      const area = selected.length > 0 ? areaAround(selected) : undefined
      const frame = area ? fittedTo(area, asked) : asked
      const origin = area ? centredOn(area, frame) : outsideOf(world.bounds, frame)
      return answerImage(request, reply, pictures, {
        view: { ...frame, ...origin, selected, theme },
        showsOffers,
      })
    },
  )
  done()
}

function answerImage(
  request: FastifyRequest,
  reply: FastifyReply,
  pictures: Pictures,
  pictureRequest: PictureRequest,
): FastifyReply | Promise<FastifyReply> {
  const parcels = countParcels(pictureRequest.view)
  if (parcels > MAX_PARCELS) return refuseTooMany(reply, parcels)
  return send(request, reply, pictures.answer(pictureRequest, addressOf(request)))
}

/** The address of a request, under which later requests find its ready answer. */
export function addressOf({ routeOptions, raw }: FastifyRequest): RequestedAddress {
  return { group: groupOf(routeOptions), url: raw.url ?? '' }
}

/** The only failure without the envelope: existing clients expect this status and sentence. */
function refuseTooMany(reply: FastifyReply, parcels: number): FastifyReply {
  return reply
    .code(500)
    .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .send(
      `Too many parcels. You are trying to render ${parcels} parcels and the maximum allowed is ${MAX_PARCELS}.`,
    )
}

/** The answers of a map image, which has two failures with status 500. */
function drawnSchema(errors: readonly ErrorCode[]): Record<string, TSchema> {
  const responses = imageSchema(errors)
  const failure = responses[500] as TSchema & { description: string; content: object }
  const tooMany = Type.String({
    description: `Too many parcels: an image has at most ${MAX_PARCELS}.`,
    examples: [
      `Too many parcels. You are trying to render 42436 parcels and the maximum allowed is ${MAX_PARCELS}.`,
    ],
  })
  const both = Type.Unsafe({
    description: `${failure.description} As text: the image would show too many parcels.`,
    content: { ...failure.content, 'text/plain': { schema: tooMany } },
  })
  return { ...responses, 500: both }
}
