import { type Coord, coordText } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { DATA } from '../http/answer.ts'
import { QUERY_UNITS } from '../http/cost-account.ts'
import type { Routes } from '../http/routes.ts'
import { freshSchema, HIDDEN } from '../http/schemas.ts'
import { send } from '../http/send.ts'
import { findMortgages } from '../land/queries/mortgage-queries.ts'
import { MORTGAGE_STATUSES, type MortgageStatus, mortgageJson } from '../land/records/mortgage.ts'
import { arrayPieces, assetsCost, sendRows } from './common/land-answers.ts'
import type { LandContext } from './common/land-context.ts'
import {
  addressParams,
  assertKnownPlace,
  coordParams,
  coordTextParams,
  lowerCase,
  parseStatuses,
  readKnownPlace,
  statusQuery,
} from './common/parameters.ts'
import { mortgageSchema, parcelSchema } from './common/schemas.ts'

const tags = ['mortgages']
const ACTIVE: readonly MortgageStatus[] = ['pending', 'ongoing']
const query = Type.Object({
  status: statusQuery(MORTGAGE_STATUSES, {
    title: 'MortgageStatus',
    default: 'all',
    description: 'Only mortgages with this status.',
  }),
})
const listResponses = freshSchema(Type.Array(mortgageSchema), ['invalid_parameter', 'database_unavailable'])

/** The endpoints of mortgages. */
export const mortgageRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const answerOfParcel = (request: FastifyRequest, reply: FastifyReply, coord: Coord, status: string) => {
    const asset = { type: 'parcel', id: coordText(coord) } as const
    const statuses = parseStatuses<MortgageStatus>(status)
    const read = (worldId: number) => findMortgages(land.db, worldId, { asset, statuses })
    return sendRows(request, reply, land, { read, json: mortgageJson })
  }

  app.get(
    '/addresses/:address/mortgages',
    {
      schema: {
        tags,
        operationId: 'mortgagesOf',
        summary: 'Mortgages that an address requested, newest first',
        params: addressParams,
        querystring: query,
        responses: listResponses,
      },
    },
    (request, reply) => {
      const borrower = lowerCase(request.params.address)
      const statuses = parseStatuses<MortgageStatus>(String(request.query.status))
      const read = (worldId: number) => findMortgages(land.db, worldId, { borrower, statuses })
      return sendRows(request, reply, land, { read, json: mortgageJson })
    },
  )

  app.get(
    '/parcels/:x/:y/mortgages',
    {
      schema: {
        tags,
        operationId: 'parcelMortgages',
        summary: 'Mortgages on a parcel, newest first',
        params: coordParams(land.world),
        querystring: query,
        responses: listResponses,
      },
    },
    (request, reply) =>
      answerOfParcel(request, reply, assertKnownPlace(land, request.params), String(request.query.status)),
  )

  app.get(
    '/parcels/:place/mortgages',
    { schema: { ...HIDDEN, params: coordTextParams, querystring: query } },
    (request, reply) => {
      const coord = readKnownPlace(land, request.params.place)
      return answerOfParcel(request, reply, coord, String(request.query.status))
    },
  )

  app.get(
    '/mortgages/:address/parcels',
    {
      schema: {
        tags,
        operationId: 'mortgagedParcelsOf',
        summary: 'Parcels with a pending or ongoing mortgage that the address requested',
        params: addressParams,
        responses: freshSchema(Type.Array(parcelSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    async (request, reply) => {
      const state = land.state()
      const nowMs = land.clock.nowMs()
      const borrower = lowerCase(request.params.address)
      request.costAccount?.charge(reply, QUERY_UNITS)
      const mortgages = await findMortgages(land.db, state.worldId, { borrower, statuses: ACTIVE })
      const parcels = state.assetsNamed(mortgages.map(({ asset_id }) => ({ type: 'parcel', id: asset_id })))
      return send(request, reply, {
        freshness: state.freshness(state.assetsExpiry(parcels, nowMs)),
        format: DATA,
        cost: QUERY_UNITS + assetsCost(parcels.length),
        body: () => arrayPieces(parcels.map((parcel) => state.assetPieces(parcel, nowMs))),
      })
    },
  )
}
