import type { Coord } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import type { ErrorCode } from '../../errors.ts'
import type { Routes } from '../../http/routes.ts'
import { HIDDEN, imageSchema, type Responses } from '../../http/schemas.ts'
import { MAX_PARCELS } from '../../map/frame.ts'
import { coordTextParams, estateParams } from '../common/parameters.ts'
import { answerEstate, answerPoint, type PictureRouteOptions, refusalOfParcels } from './image-answers.ts'
import {
  FRAME_RANGES,
  frameQuery,
  placeQuery,
  readCenter,
  readFrame,
  readPlace,
  readSelected,
  readStyle,
  styleQuery,
  withinContract,
} from './image-parameters.ts'

const tags = ['map']
const assetQuery = Type.Object({ ...frameQuery(FRAME_RANGES), ...styleQuery })
type AssetQuery = Static<typeof assetQuery>

/** An image may show ground outside of the world. */
const anyPlaceParams = Type.Object({
  x: Type.Integer({ description: 'Column, also outside of the world.' }),
  y: Type.Integer({ description: 'Row, also outside of the world.' }),
})

/** The map images: around coordinates, of a parcel, of an estate. */
export const imageRoutes: Routes<PictureRouteOptions> = (app, options) => {
  const { world } = options.land

  app.get(
    '/map.png',
    {
      compress: false,
      schema: {
        tags,
        operationId: 'mapImage',
        summary: 'An image of the land around a parcel',
        description:
          'North is up. Neighbours in the same estate or district are drawn joined, others with a gap between them. The header x-drawn has the numbers that were changed to the nearest allowed ones.',
        querystring: Type.Object({ ...frameQuery(FRAME_RANGES), ...placeQuery(world), ...styleQuery }),
        responses: drawnSchema(['invalid_parameter']),
      },
    },
    (request, reply) => {
      const { query } = request
      const drawn = readFrame(FRAME_RANGES, query)
      const center = readCenter(world, query.center)
      const selected = readSelected(world, query.selected)
      return (
        refusalOfParcels(drawn, reply) ??
        answerPoint(request, reply, options, { drawn, style: readStyle(query), center, selected })
      )
    },
  )

  const answerParcel = (request: FastifyRequest, reply: FastifyReply, query: AssetQuery, place: Coord) => {
    const drawn = readFrame(FRAME_RANGES, query)
    const center = withinContract(place)
    return (
      refusalOfParcels(drawn, reply) ??
      answerPoint(request, reply, options, { drawn, style: readStyle(query), center, selected: [center] })
    )
  }

  app.get(
    '/parcels/:x/:y/map.png',
    {
      compress: false,
      schema: {
        tags,
        operationId: 'parcelImage',
        summary: 'An image of a parcel: in the middle, and selected',
        params: anyPlaceParams,
        querystring: assetQuery,
        responses: drawnSchema(['invalid_parameter']),
      },
    },
    (request, reply) => answerParcel(request, reply, request.query, request.params),
  )

  app.get(
    '/parcels/:place/map.png',
    { compress: false, schema: { ...HIDDEN, params: coordTextParams, querystring: assetQuery } },
    (request, reply) => answerParcel(request, reply, request.query, readPlace('x,y', request.params.place)),
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
          'Zoomed out until the estate fits. For an estate without parcels, the image shows the ground outside the world.',
        params: estateParams,
        querystring: assetQuery,
        responses: drawnSchema(['invalid_parameter', 'estate_not_found']),
      },
    },
    (request, reply) => {
      const drawn = readFrame(FRAME_RANGES, request.query)
      const id = request.params.id!
      return (
        refusalOfParcels(drawn, reply) ??
        answerEstate(request, reply, options, { drawn, style: readStyle(request.query), id })
      )
    },
  )
}

/** The answers of a map image, which has two failures with status 500. */
function drawnSchema(errors: readonly ErrorCode[]): Responses {
  const tooMany = Type.String({
    description: `Too many parcels: an image has at most ${MAX_PARCELS}.`,
    examples: [
      `Too many parcels. You are trying to render 42436 parcels and the maximum allowed is ${MAX_PARCELS}.`,
    ],
  })
  return () => {
    const responses = imageSchema(errors)()
    const failure = responses[500] as TSchema & { description: string; content: object }
    const both = Type.Unsafe({
      description: `${failure.description} As text: the image would show too many parcels.`,
      content: { ...failure.content, 'text/plain': { schema: tooMany } },
    })
    return { ...responses, 500: both }
  }
}
