import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import Type, { type TSchema } from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { HIDDEN, imageSchema } from '../../http/schemas.ts'
import { estateParams } from '../common/parameters.ts'
import { answerEstate, answerPoint, type Drawing, type PictureRouteOptions } from './image-answers.ts'
import {
  defaultCenter,
  type FrameRanges,
  frameQuery,
  placeQuery,
  readFrame,
  readPoint,
  selectionOf,
  withinContract,
} from './image-parameters.ts'

const FRAME_RANGES: FrameRanges = {
  width: { min: 100, max: 4096, default: 1024 },
  height: { min: 100, max: 4096, default: 1024 },
  size: { min: 5, max: 50, default: 20 },
}

const styleQuery = {
  'on-sale': Type.Optional(
    Type.Boolean({ title: 'OnSaleV2', description: 'Whether parcels for sale are highlighted.' }),
  ),
  'listed-for-rent': Type.Optional(
    Type.Boolean({
      title: 'ListedForRent',
      description: 'Highlights land with an open offer to rent.',
    }),
  ),
}
const assetQuery = Type.Object({ ...frameQuery(FRAME_RANGES, 'V2'), ...styleQuery })

const tags = ['map']
const description = 'No value is refused: one that cannot be read counts as absent.'
const placeParams = Type.Object({
  x: Type.Integer({ description: 'Column.' }),
  y: Type.Integer({ description: 'Row.' }),
})

/** Parameters are passed on as text: the schemas only describe them. */
const asText: FastifySchemaCompiler<TSchema> = () => (value) => ({ value })

/**
 * The map images below `/v2`, with the ranges and defaults of the public atlas server. Like there, no parameter is
 * refused, and any number of parcels is drawn.
 */
export const newerImageRoutes: Routes<PictureRouteOptions> = (app, options) => {
  const { world } = options.land

  app.get(
    '/map.png',
    {
      compress: false,
      validatorCompiler: asText,
      schema: {
        tags,
        operationId: 'mapImage',
        summary: 'An image of the land around a parcel, up to 4096 pixels',
        description: `${description} A center that cannot be read: the ground outside of the world.`,
        querystring: Type.Object({ ...assetQuery.properties, ...placeQuery(world) }),
        responses: imageSchema(),
      },
    },
    (request, reply) => {
      const text = textsOf(request)
      const centerText = text('center')
      const center = centerText === undefined ? defaultCenter(world.bounds) : readPoint(centerText.split(','))
      const places = (text('selected') ?? '').split(';').map(wholePlaceOf)
      const selected = selectionOf(world, places)
      return answerPoint(request, reply, options, { ...drawingOf(request), center, selected })
    },
  )

  const answerParcel = (request: FastifyRequest, reply: FastifyReply, [x, y]: readonly string[]) => {
    const wholeOr0 = (text = '') => Number.parseInt(text, 10) || 0
    const center = withinContract({ x: wholeOr0(x), y: wholeOr0(y) })
    return answerPoint(request, reply, options, { ...drawingOf(request), center, selected: [center] })
  }

  app.get<{ Params: { x: string; y: string } }>(
    '/parcels/:x/:y/map.png',
    {
      compress: false,
      validatorCompiler: asText,
      schema: {
        tags,
        operationId: 'parcelImage',
        summary: 'An image of a parcel, up to 4096 pixels: in the middle, and selected',
        description: `${description} A coordinate that is no number is 0.`,
        params: placeParams,
        querystring: assetQuery,
        responses: imageSchema(),
      },
    },
    (request, reply) => answerParcel(request, reply, [request.params.x, request.params.y]),
  )

  app.get<{ Params: { place: string } }>(
    '/parcels/:place/map.png',
    { compress: false, validatorCompiler: asText, schema: HIDDEN },
    (request, reply) => answerParcel(request, reply, request.params.place.split(',')),
  )

  app.get<{ Params: { id: string } }>(
    '/estates/:id/map.png',
    {
      compress: false,
      validatorCompiler: asText,
      schema: {
        tags,
        operationId: 'estateImage',
        summary: 'An image of an estate, up to 4096 pixels: in the middle, all of its parcels selected',
        description,
        params: estateParams,
        querystring: assetQuery,
        responses: imageSchema(['estate_not_found']),
      },
    },
    (request, reply) =>
      answerEstate(request, reply, options, { ...drawingOf(request), id: request.params.id }),
  )
}

function drawingOf(request: FastifyRequest): Drawing {
  const text = textsOf(request)
  const number = (name: keyof FrameRanges) => {
    const value = Number.parseInt(text(name) ?? '', 10)
    return Number.isNaN(value) ? FRAME_RANGES[name].default : value
  }
  const drawn = readFrame(FRAME_RANGES, {
    width: number('width'),
    height: number('height'),
    size: number('size'),
  })
  const [showsOffers, showsRentals] = [text('on-sale') === 'true', text('listed-for-rent') === 'true']
  return { drawn, style: { showsOffers, showsRentals, theme: 'dark' } }
}

/** Reads a parameter of a query; of one that is sent several times, the first value. Undefined for an empty one. */
function textsOf({ query }: FastifyRequest): (name: string) => string | undefined {
  const given = query as Readonly<Record<string, string | readonly string[]>>
  return (name) => [given[name] ?? []].flat()[0] || undefined
}

/** Whatever is no number is no place of any world. */
function wholePlaceOf(text: string) {
  const [x, y] = text.split(',')
  return { x: Number.parseInt(x ?? '', 10), y: Number.parseInt(y ?? '', 10) }
}
