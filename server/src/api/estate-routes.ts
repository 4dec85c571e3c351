import Type from 'typebox'
import { AppError } from '../errors.ts'
import { type Answer, DATA } from '../http/answer.ts'
import type { Routes } from '../http/routes.ts'
import { freshSchema } from '../http/schemas.ts'
import { send } from '../http/send.ts'
import { estateIdOf } from '../land/records/assets.ts'
import type { ListingStatus } from '../land/records/statuses.ts'
import type { LandContext } from './common/land-context.ts'
import { answerOwned } from './common/owned-assets.ts'
import { addressParams, estateParams, lowerCase, ownedQuery, parseStatuses } from './common/parameters.ts'
import { estateSchema } from './common/schemas.ts'
import { answerListing, listingQuery, pageSchema } from './marketplace/listing.ts'

const tags = ['estates']

/** The endpoints of estates: the list, those of an address, and one. */
export const estateRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/estates',
    {
      schema: {
        tags,
        operationId: 'estates',
        summary: 'Estates with a publication of a status, one row for each publication',
        querystring: Type.Object(listingQuery),
        responses: freshSchema(Type.Object({ estates: Type.Array(estateSchema), ...pageSchema }), [
          'invalid_parameter',
          'database_unavailable',
        ]),
      },
    },
    (request, reply) =>
      answerListing(request, reply, { land, name: 'estates', assetType: 'estate' }, request.query),
  )

  app.get(
    '/addresses/:address/estates',
    {
      schema: {
        tags,
        operationId: 'estatesOf',
        summary: 'All estates that an address owns, by id',
        params: addressParams,
        querystring: ownedQuery,
        responses: freshSchema(Type.Array(estateSchema), [
          'invalid_parameter',
          'database_unavailable',
          'too_many_large_answers',
        ]),
      },
    },
    (request, reply) =>
      answerOwned(request, reply, land, {
        owner: lowerCase(request.params.address),
        type: 'estate',
        statuses: parseStatuses<ListingStatus>(String(request.query.status)),
      }),
  )

  app.get(
    '/estates/:id',
    {
      schema: {
        tags,
        operationId: 'estate',
        summary: 'One estate',
        params: estateParams,
        responses: freshSchema(estateSchema, ['invalid_parameter', 'estate_not_found']),
      },
    },
    (request, reply) => {
      const id = estateIdOf(request.params.id!)
      return send(request, reply, () => estateAnswer(land, id))
    },
  )
}

function estateAnswer(land: LandContext, id: string): Answer {
  const moment = land.moment()
  const { state, nowMs } = moment
  const row = state.estateRow(id)
  if (row < 0) throw new AppError('estate_not_found', 'There is no estate with this id.', { id })
  const freshness = state.freshness(state.estateExpiry(row, nowMs))
  return { freshness, format: DATA, body: () => state.estatePieces(row, nowMs), moment }
}
