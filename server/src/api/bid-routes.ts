import { coordText } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { AppError } from '../errors.ts'
import { DATA } from '../http/answer.ts'
import { QUERY_UNITS } from '../http/cost-account.ts'
import type { Routes } from '../http/routes.ts'
import { freshSchema, HIDDEN } from '../http/schemas.ts'
import { send } from '../http/send.ts'
import { bidsOfAddress, bidsOfAsset, findBid } from '../land/queries/bid-queries.ts'
import { type AssetName, findAsset } from '../land/records/assets.ts'
import { bidJson } from '../land/records/bid.ts'
import { type ListingStatus, STATUSES } from '../land/records/statuses.ts'
import { GIVEN_ADDRESS } from '../schema-parts.ts'
import { arrayPieces, assetsCost, sendRows } from './common/land-answers.ts'
import type { LandContext } from './common/land-context.ts'
import {
  addressParams,
  assertKnownPlace,
  assetParams,
  assetTypeQuery,
  coordParams,
  coordTextParams,
  estateParams,
  idParams,
  lowerCase,
  parseStatuses,
  readKnownPlace,
  statusQuery,
} from './common/parameters.ts'
import { bidSchema, estateSchema, parcelSchema } from './common/schemas.ts'

const tags = ['bids']
const statusFilter = {
  status: statusQuery(STATUSES, {
    title: 'BidStatus',
    default: 'all',
    description: 'Only bids with this status.',
  }),
}
const ofAddressQuery = Type.Object(statusFilter)
const ofAssetQuery = Type.Object({
  ...statusFilter,
  bidder: Type.Optional(
    Type.String({
      title: 'Bidder',
      ...GIVEN_ADDRESS,
      description: 'Only bids that this address made.',
    }),
  ),
  sanitize: Type.Boolean({
    title: 'Sanitize',
    default: true,
    description: 'false adds where on the chain each bid was found.',
  }),
})
const typedAssetQuery = Type.Object({
  ...ofAssetQuery.properties,
  asset_type: assetTypeQuery,
})
type OfAssetQuery = Static<typeof ofAssetQuery>

/** The endpoints of bids, and `/assets/:id/bids` of the older services. */
export const bidRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const answerBidsOf = (
    request: FastifyRequest,
    reply: FastifyReply,
    asset: AssetName,
    query: OfAssetQuery,
  ) => {
    const { sanitize, bidder } = query
    const filter = { statuses: statusesOf(query), bidder: bidder?.toLowerCase() }
    const read = (worldId: number) => bidsOfAsset(land.db, worldId, asset, filter)
    return sendRows(request, reply, land, { read, json: (bid) => bidJson(bid, { sanitize }) })
  }

  app.get(
    '/bids/:id',
    {
      schema: {
        tags,
        operationId: 'bid',
        summary: 'One bid',
        params: idParams('id', 'Id of the bid.'),
        responses: freshSchema(bidSchema, ['invalid_parameter', 'bid_not_found', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const state = land.state()
      const id = lowerCase(request.params.id!)
      const body = async () => {
        const bid = await findBid(land.db, state.worldId, id)
        if (!bid) throw new AppError('bid_not_found', 'There is no bid with this id.', { id })
        return bidJson(bid, { sanitize: true })
      }
      return send(request, reply, { freshness: state.freshness(), format: DATA, cost: QUERY_UNITS, body })
    },
  )

  app.get(
    '/addresses/:address/bids',
    {
      schema: {
        tags,
        operationId: 'bidsOf',
        summary: 'Bids that an address made or received, newest first',
        params: addressParams,
        querystring: ofAddressQuery,
        responses: freshSchema(Type.Array(bidSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const address = lowerCase(request.params.address)
      const filter = { statuses: statusesOf(request.query) }
      const read = (worldId: number) => bidsOfAddress(land.db, worldId, address, filter)
      return sendRows(request, reply, land, { read, json: (bid) => bidJson(bid, { sanitize: true }) })
    },
  )

  app.get(
    '/parcels/:x/:y/bids',
    {
      schema: {
        tags,
        operationId: 'parcelBids',
        summary: 'Bids on a parcel, newest first',
        params: coordParams(land.world),
        querystring: ofAssetQuery,
        responses: freshSchema(Type.Array(bidSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const id = coordText(assertKnownPlace(land, request.params))
      return answerBidsOf(request, reply, { type: 'parcel', id }, request.query)
    },
  )

  app.get(
    '/parcels/:place/bids',
    { schema: { ...HIDDEN, params: coordTextParams, querystring: ofAssetQuery } },
    (request, reply) => {
      const id = coordText(readKnownPlace(land, request.params.place))
      return answerBidsOf(request, reply, { type: 'parcel', id }, request.query)
    },
  )

  app.get(
    '/estates/:id/bids',
    {
      schema: {
        tags,
        operationId: 'estateBids',
        summary: 'Bids on an estate, newest first',
        params: estateParams,
        querystring: ofAssetQuery,
        responses: freshSchema(Type.Array(bidSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) => answerBidsOf(request, reply, findAsset(request.params.id!, 'estate'), request.query),
  )

  app.get(
    '/assets/:id/bids',
    {
      schema: {
        tags,
        operationId: 'assetBids',
        summary: 'Bids on a parcel or estate, newest first',
        params: assetParams,
        querystring: typedAssetQuery,
        responses: freshSchema(Type.Array(bidSchema), ['invalid_parameter', 'database_unavailable']),
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
        operationId: 'assetsWithBidsOf',
        summary: 'The parcels and estates that an address made or received bids on',
        params: addressParams,
        querystring: ofAddressQuery,
        responses: freshSchema(Type.Array(Type.Union([parcelSchema, estateSchema])), [
          'invalid_parameter',
          'database_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      const state = land.state()
      const nowMs = land.clock.nowMs()
      const address = lowerCase(request.params.address)
      const filter = { statuses: statusesOf(request.query) }
      request.costAccount?.charge(reply, QUERY_UNITS)
      const bids = await bidsOfAddress(land.db, state.worldId, address, filter)
      const assets = state.assetsNamed(bids.map((bid) => ({ type: bid.asset_type, id: bid.asset_id })))
      return send(request, reply, {
        freshness: state.freshness(state.assetsExpiry(assets, nowMs)),
        format: DATA,
        cost: QUERY_UNITS + assetsCost(assets.length),
        body: () => arrayPieces(assets.map((asset) => state.assetPieces(asset, nowMs))),
      })
    },
  )
}

function statusesOf(query: { readonly status?: unknown }): readonly ListingStatus[] | undefined {
  return parseStatuses<ListingStatus>(String(query.status))
}
