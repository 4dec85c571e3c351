import {
  type Coord,
  coordText,
  decodeTokenId,
  isInWorld,
  parseCoord,
  parseTokenId,
  tokenIdHex,
} from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { type Answer, DATA } from '../../http/answer.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema, HIDDEN } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { invalidParameter } from '../../http/validation.ts'
import type { ListingStatus } from '../../land/records/statuses.ts'
import { answerArea, PARCELS_FORM, readArea } from '../area/area.ts'
import type { LandContext } from '../common/land-context.ts'
import { answerOwned } from '../common/owned-assets.ts'
import {
  addressParams,
  assertKnownPlace,
  coordParams,
  coordTextParams,
  lowerCase,
  ownedQuery,
  parseStatuses,
  readKnownPlace,
  TOKEN_ID_ALLOWED,
} from '../common/parameters.ts'
import { parcelSchema } from '../common/schemas.ts'
import { answerListing, listingQuery, pageSchema } from '../marketplace/listing.ts'

const tags = ['parcels']

/** The endpoints of parcels: the list, those of an address, one by coordinates or token id, its token id in hex. */
export const parcelRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const answerParcel = (request: FastifyRequest, reply: FastifyReply, coord: Coord) =>
    send(request, reply, () => parcelAnswer(land, coord))

  const answerEncodedId = (request: FastifyRequest, reply: FastifyReply, coord: Coord) =>
    send(request, reply, () => {
      const moment = land.moment()
      const body = () => `{"encoded_id":"${tokenIdHex(coord)}"}`
      return { freshness: moment.state.freshness(), format: DATA, body, moment }
    })

  app.get(
    '/parcels',
    {
      schema: {
        tags,
        operationId: 'parcels',
        summary: 'Parcels with a publication of a status, one row for each publication',
        description:
          'With nw and se: all parcels of that area instead, by x ascending, then y descending, without pages. The \
other parameters are refused beside them.',
        querystring: Type.Object({
          ...listingQuery,
          nw: Type.Optional(Type.String({ description: 'North-west corner of an area, as x,y.' })),
          se: Type.Optional(Type.String({ description: 'South-east corner of an area, as x,y.' })),
        }),
        responses: freshSchema(
          Type.Object({
            parcels: Type.Array(parcelSchema),
            total: pageSchema.total,
            limit: Type.Optional(pageSchema.limit),
            offset: Type.Optional(pageSchema.offset),
            cursor: Type.Optional(pageSchema.cursor),
          }),
          ['invalid_parameter', 'database_unavailable', 'too_many_large_answers'],
        ),
      },
    },
    (request, reply) => {
      const { nw, se, ...query } = request.query
      if (nw === undefined && se === undefined) {
        return answerListing(request, reply, { land, name: 'parcels', assetType: 'parcel' }, query)
      }
      if (nw === undefined) throw invalidParameter('nw', nw, 'given with se, as x,y')
      if (se === undefined) throw invalidParameter('se', se, 'given with nw, as x,y')
      refuseListParameters(request.url)
      return answerArea(request, reply, land, readArea(land.world, { nw, se }), PARCELS_FORM)
    },
  )

  app.get(
    '/addresses/:address/parcels',
    {
      schema: {
        tags,
        operationId: 'parcelsOf',
        summary: 'All parcels that an address owns, by x, then y',
        params: addressParams,
        querystring: ownedQuery,
        responses: freshSchema(Type.Array(parcelSchema), [
          'invalid_parameter',
          'database_unavailable',
          'too_many_large_answers',
        ]),
      },
    },
    (request, reply) =>
      answerOwned(request, reply, land, {
        owner: lowerCase(request.params.address),
        type: 'parcel',
        statuses: parseStatuses<ListingStatus>(String(request.query.status)),
      }),
  )

  app.get(
    '/parcels/:x/:y',
    {
      schema: {
        tags,
        operationId: 'parcel',
        summary: 'One parcel, by its coordinates',
        params: coordParams(land.world),
        responses: freshSchema(parcelSchema, ['invalid_parameter', 'parcel_not_found']),
      },
    },
    (request, reply) => answerParcel(request, reply, assertKnownPlace(land, request.params)),
  )

  app.get(
    '/parcels/:tokenId',
    {
      schema: {
        tags,
        operationId: 'parcelOfToken',
        summary: 'One parcel, by its token id',
        params: Type.Object({
          tokenId: Type.String({
            'x-allowed': TOKEN_ID_ALLOWED,
            description: 'Decimal, or 0x and hex digits.',
          }),
        }),
        responses: freshSchema(parcelSchema, ['invalid_parameter', 'parcel_not_found']),
      },
    },
    (request, reply) => {
      const { tokenId } = request.params
      if (parseCoord(tokenId)) return answerParcel(request, reply, readKnownPlace(land, tokenId))
      const number = parseTokenId(tokenId)
      if (number === undefined) throw invalidParameter('tokenId', tokenId, TOKEN_ID_ALLOWED)
      const coord = decodeTokenId(number)
      if (!coord || (!isInWorld(land.world, coord) && land.state().parcelRow(coord) < 0)) {
        throw new AppError('parcel_not_found', 'The world has no parcel with this token id.', {
          token_id: tokenId,
        })
      }
      return answerParcel(request, reply, coord)
    },
  )

  app.get(
    '/parcels/:x/:y/encodedId',
    {
      schema: {
        tags,
        operationId: 'parcelTokenId',
        summary: "A parcel's token id, in hex",
        params: coordParams(land.world),
        responses: freshSchema(Type.Object({ encoded_id: Type.String({ pattern: '^0x[0-9a-f]{64}$' }) }), [
          'invalid_parameter',
        ]),
      },
    },
    (request, reply) => answerEncodedId(request, reply, assertKnownPlace(land, request.params)),
  )

  app.get('/parcels/:place/encodedId', { schema: { ...HIDDEN, params: coordTextParams } }, (request, reply) =>
    answerEncodedId(request, reply, readKnownPlace(land, request.params.place)),
  )
}

function parcelAnswer(land: LandContext, coord: Coord): Answer {
  const moment = land.moment()
  const { state, nowMs } = moment
  const row = state.parcelRow(coord)
  if (row < 0) throw parcelNotFound(coord)
  const freshness = state.freshness(state.parcelExpiry(row, nowMs))
  return { freshness, format: DATA, body: () => state.parcelPieces(row, nowMs), moment }
}

/** An area is answered whole: parameters of the list would have no effect. Reads the address, because the query has defaults. */
function refuseListParameters(url: string): void {
  for (const [name, value] of new URLSearchParams(url.split('?')[1])) {
    if (value !== '' && Object.hasOwn(listingQuery, name))
      throw invalidParameter(name, value, 'left out beside nw and se, which answer all parcels of the area')
  }
}

function parcelNotFound(coord: Coord): AppError {
  return new AppError('parcel_not_found', `The world has no parcel at ${coordText(coord)}.`, { ...coord })
}
