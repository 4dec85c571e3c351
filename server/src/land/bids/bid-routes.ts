import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { ListingStatus } from '../../db/schema.ts'
import { AppError } from '../../errors.ts'
import { answer, jsonPiece } from '../../http/answers.ts'
import { freshSchema, HIDDEN, oneOf } from '../../http/schemas.ts'
import { coordText } from '../../world/coord.ts'
import { type AssetName, findAsset } from '../assets.ts'
import { answerRows, arrayPieces } from '../land-answers.ts'
import type { LandContext } from '../land-context.ts'
import {
  addressParams,
  assertInWorld,
  coordParams,
  idParams,
  lowerCase,
  parseStatuses,
  placeParams,
  readPlace,
  STATUSES,
  statusQuery,
} from '../parameters.ts'
import { bidSchema, estateSchema, parcelSchema } from '../schemas.ts'
import { bidJson } from './bid-json.ts'
import { bidsOfAddress, bidsOfAsset, findBid } from './bid-queries.ts'

const tags = ['bids']
const statusFilter = { status: statusQuery(STATUSES, { default: 'all', description: 'Which bids.' }) }
const ofAddressQuery = Type.Object(statusFilter)
const ofAssetQuery = Type.Object({
  ...statusFilter,
  bidder: Type.Optional(
    Type.String({
      pattern: '^0[xX][0-9a-fA-F]{40}$',
      'x-allowed': 'an address: 0x and 40 hex digits',
      description: 'Only the bids of this address.',
    }),
  ),
  sanitize: Type.Boolean({ default: true, description: 'false adds where on the chain each bid was found.' }),
})
const typedAssetQuery = Type.Object({
  ...ofAssetQuery.properties,
  asset_type: Type.Optional(
    oneOf(['parcel', 'estate'], { description: 'Told from the id where it is left out.' }),
  ),
})
type OfAssetQuery = Static<typeof ofAssetQuery>

/** The five endpoints of bids (interfaces.md, 4.2), and `/assets/:id/bids` of the older services. */
export const bidRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (app, { land }, done) => {
  const answerBidsOf = (
    request: FastifyRequest,
    reply: FastifyReply,
    asset: AssetName,
    query: OfAssetQuery,
  ) => {
    const present = land.present()
    const { sanitize, bidder } = query
    const filter = { statuses: statusesOf(query), bidder: bidder?.toLowerCase() }
    const read = () => bidsOfAsset(land.db, present.worldId, asset, filter)
    return answerRows(request, reply, present.freshness(), read, (bid) => bidJson(bid, { sanitize }))
  }

  app.get(
    '/bids/:id',
    {
      schema: {
        tags,
        summary: 'One bid',
        params: idParams('id', 'Id of the bid.'),
        response: freshSchema(bidSchema, ['invalid_parameter', 'bid_not_found', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const present = land.present()
      const id = lowerCase(request.params.id!)
      return answer(request, reply, present.freshness(), async () => {
        const bid = await findBid(land.db, present.worldId, id)
        if (!bid) throw new AppError('bid_not_found', 'There is no bid with this id.', { id })
        return jsonPiece(bidJson(bid, { sanitize: true }))
      })
    },
  )

  app.get(
    '/addresses/:address/bids',
    {
      schema: {
        tags,
        summary: 'Bids that an address made or received, newest first',
        params: addressParams,
        querystring: ofAddressQuery,
        response: freshSchema(Type.Array(bidSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const present = land.present()
      const address = lowerCase(request.params.address)
      const filter = { statuses: statusesOf(request.query) }
      const read = () => bidsOfAddress(land.db, present.worldId, address, filter)
      return answerRows(request, reply, present.freshness(), read, (bid) => bidJson(bid, { sanitize: true }))
    },
  )

  app.get(
    '/parcels/:x/:y/bids',
    {
      schema: {
        tags,
        summary: 'Bids on a parcel, newest first',
        params: coordParams(land.world),
        querystring: ofAssetQuery,
        response: freshSchema(Type.Array(bidSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const id = coordText(assertInWorld(land.world, request.params))
      return answerBidsOf(request, reply, { type: 'parcel', id }, request.query)
    },
  )

  app.get(
    '/parcels/:place/bids',
    { schema: { ...HIDDEN, params: placeParams, querystring: ofAssetQuery } },
    (request, reply) => {
      const id = coordText(readPlace(land.world, 'x,y', request.params.place))
      return answerBidsOf(request, reply, { type: 'parcel', id }, request.query)
    },
  )

  app.get(
    '/estates/:id/bids',
    {
      schema: {
        tags,
        summary: 'Bids on an estate, newest first',
        params: idParams('id', 'Estate id.'),
        querystring: ofAssetQuery,
        response: freshSchema(Type.Array(bidSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) =>
      answerBidsOf(request, reply, { type: 'estate', id: request.params.id! }, request.query),
  )

  app.get(
    '/assets/:id/bids',
    {
      schema: {
        tags,
        summary: 'Bids on a parcel or estate, newest first',
        params: idParams('id', 'Estate id, or parcel as x,y.'),
        querystring: typedAssetQuery,
        response: freshSchema(Type.Array(bidSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) =>
      answerBidsOf(request, reply, findAsset(request.params.id!, request.query.asset_type), request.query),
  )

  app.get(
    '/bids/:address/assets',
    {
      schema: {
        tags,
        summary: 'The parcels and estates that an address made or received bids on',
        params: addressParams,
        querystring: ofAddressQuery,
        response: freshSchema(Type.Array(Type.Union([parcelSchema, estateSchema])), [
          'invalid_parameter',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      const present = land.present()
      const nowMs = land.clock.nowMs()
      const address = lowerCase(request.params.address)
      const filter = { statuses: statusesOf(request.query) }
      const bids = await bidsOfAddress(land.db, present.worldId, address, filter)
      const assets = present.assetsNamed(bids.map((bid) => ({ type: bid.asset_type, id: bid.asset_id })))
      return answer(request, reply, present.freshness(present.assetsExpiry(assets, nowMs)), () =>
        arrayPieces(assets.map((asset) => present.assetPieces(asset, nowMs))),
      )
    },
  )
  done()
}

function statusesOf(query: { readonly status?: unknown }): readonly ListingStatus[] | undefined {
  return parseStatuses<ListingStatus>(String(query.status))
}
