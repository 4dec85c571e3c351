import { coordText } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../errors.ts'
import { DATA } from '../http/answer.ts'
import { QUERY_UNITS } from '../http/cost-account.ts'
import type { Routes } from '../http/routes.ts'
import { freshSchema, HIDDEN } from '../http/schemas.ts'
import { send } from '../http/send.ts'
import { findPublication, publicationsOfAsset } from '../land/queries/publication-queries.ts'
import { type AssetName, findAsset } from '../land/records/assets.ts'
import { publicationJson } from '../land/records/publication.ts'
import { sendRows } from './common/land-answers.ts'
import type { LandContext } from './common/land-context.ts'
import {
  assertKnownPlace,
  assetParams,
  assetTypeQuery,
  coordParams,
  coordTextParams,
  estateParams,
  idParams,
  lowerCase,
  readKnownPlace,
} from './common/parameters.ts'
import { publicationSchema } from './common/schemas.ts'

const tags = ['publications']
const historyResponses = freshSchema(Type.Array(publicationSchema), [
  'invalid_parameter',
  'database_unavailable',
])

/** The endpoints of publications, and `/assets/:id/publications` of the older services. */
export const publicationRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const answerHistory = (request: FastifyRequest, reply: FastifyReply, asset: AssetName) =>
    sendRows(request, reply, land, {
      read: (worldId) => publicationsOfAsset(land.db, worldId, asset),
      json: publicationJson,
    })

  app.get(
    '/publications/:txHash',
    {
      schema: {
        tags,
        operationId: 'publication',
        summary: 'The publication that a transaction created; if it created several, the first',
        params: idParams('txHash', 'Transaction hash.'),
        responses: freshSchema(publicationSchema, [
          'invalid_parameter',
          'publication_not_found',
          'database_unavailable',
        ]),
      },
    },
    (request, reply) => {
      const state = land.state()
      const txHash = lowerCase(request.params.txHash!)
      const body = async () => {
        const publication = await findPublication(land.db, state.worldId, txHash)
        if (publication) return publicationJson(publication)
        throw new AppError('publication_not_found', 'No publication was created by this transaction.', {
          txHash,
        })
      }
      return send(request, reply, { freshness: state.freshness(), format: DATA, cost: QUERY_UNITS, body })
    },
  )

  app.get(
    '/parcels/:x/:y/publications',
    {
      schema: {
        tags,
        operationId: 'parcelPublications',
        summary: 'All publications of a parcel, newest first',
        params: coordParams(land.world),
        responses: historyResponses,
      },
    },
    (request, reply) => {
      const id = coordText(assertKnownPlace(land, request.params))
      return answerHistory(request, reply, { type: 'parcel', id })
    },
  )

  app.get(
    '/parcels/:place/publications',
    { schema: { ...HIDDEN, params: coordTextParams } },
    (request, reply) => {
      const id = coordText(readKnownPlace(land, request.params.place))
      return answerHistory(request, reply, { type: 'parcel', id })
    },
  )

  app.get(
    '/estates/:id/publications',
    {
      schema: {
        tags,
        operationId: 'estatePublications',
        summary: 'All publications of an estate, newest first',
        params: estateParams,
        responses: historyResponses,
      },
    },
    (request, reply) => answerHistory(request, reply, findAsset(request.params.id!, 'estate')),
  )

  app.get(
    '/assets/:id/publications',
    {
      schema: {
        tags,
        operationId: 'assetPublications',
        summary: 'All publications of a parcel or estate, newest first',
        params: assetParams,
        querystring: Type.Object({ asset_type: assetTypeQuery }),
        responses: historyResponses,
      },
    },
    (request, reply) =>
      answerHistory(request, reply, findAsset(request.params.id!, request.query.asset_type)),
  )
}
