import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { type Coord, coordText } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { answer } from '../../http/answers.ts'
import { freshSchema, HIDDEN } from '../../http/schemas.ts'
import { findMortgages } from '../../land/queries/mortgage-queries.ts'
import { MORTGAGE_STATUSES, type MortgageStatus, mortgageJson } from '../../land/records/mortgage.ts'
import { answerRows, arrayPieces } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import {
  addressParams,
  assertInWorld,
  coordParams,
  lowerCase,
  parseStatuses,
  placeParams,
  readPlace,
  statusQuery,
} from '../common/parameters.ts'
import { mortgageSchema, parcelSchema } from '../common/schemas.ts'

const tags = ['mortgages']
const ACTIVE: readonly MortgageStatus[] = ['pending', 'ongoing']
const query = Type.Object({
  status: statusQuery(MORTGAGE_STATUSES, { default: 'all', description: 'Which mortgages.' }),
})
const listResponse = freshSchema(Type.Array(mortgageSchema), ['invalid_parameter', 'database_unavailable'])

/** The three endpoints of mortgages (interfaces.md, 4.2). */
export const mortgageRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (app, { land }, done) => {
  const answerOfParcel = (request: FastifyRequest, reply: FastifyReply, coord: Coord, status: string) => {
    const state = land.state()
    const asset = { type: 'parcel', id: coordText(coord) } as const
    const read = () =>
      findMortgages(land.db, state.worldId, { asset, statuses: parseStatuses<MortgageStatus>(status) })
    return answerRows(request, reply, state.freshness(), read, mortgageJson)
  }

  app.get(
    '/addresses/:address/mortgages',
    {
      schema: {
        tags,
        summary: 'Mortgages that an address requested, newest first',
        params: addressParams,
        querystring: query,
        response: listResponse,
      },
    },
    (request, reply) => {
      const state = land.state()
      const borrower = lowerCase(request.params.address)
      const statuses = parseStatuses<MortgageStatus>(String(request.query.status))
      const read = () => findMortgages(land.db, state.worldId, { borrower, statuses })
      return answerRows(request, reply, state.freshness(), read, mortgageJson)
    },
  )

  app.get(
    '/parcels/:x/:y/mortgages',
    {
      schema: {
        tags,
        summary: 'Mortgages on a parcel, newest first',
        params: coordParams(land.world),
        querystring: query,
        response: listResponse,
      },
    },
    (request, reply) =>
      answerOfParcel(request, reply, assertInWorld(land.world, request.params), String(request.query.status)),
  )

  app.get(
    '/parcels/:place/mortgages',
    { schema: { ...HIDDEN, params: placeParams, querystring: query } },
    (request, reply) => {
      const coord = readPlace(land.world, 'x,y', request.params.place)
      return answerOfParcel(request, reply, coord, String(request.query.status))
    },
  )

  app.get(
    '/mortgages/:address/parcels',
    {
      schema: {
        tags,
        summary: 'Parcels with a pending or ongoing mortgage that the address requested',
        params: addressParams,
        response: freshSchema(Type.Array(parcelSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    async (request, reply) => {
      const state = land.state()
      const nowMs = land.clock.nowMs()
      const borrower = lowerCase(request.params.address)
      const mortgages = await findMortgages(land.db, state.worldId, { borrower, statuses: ACTIVE })
      const parcels = state.assetsNamed(mortgages.map(({ asset_id }) => ({ type: 'parcel', id: asset_id })))
      return answer(request, reply, state.freshness(state.assetsExpiry(parcels, nowMs)), () =>
        arrayPieces(parcels.map((parcel) => state.assetPieces(parcel, nowMs))),
      )
    },
  )
  done()
}
