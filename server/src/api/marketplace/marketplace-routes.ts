import Type from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { freshSchema } from '../../http/schemas.ts'
import { oneOf } from '../../schema-parts.ts'
import type { LandContext } from '../common/land-context.ts'
import { estateSchema, parcelSchema } from '../common/schemas.ts'
import { answerListing, listingQuery, pageSchema } from './listing.ts'

/** `/marketplace` of the older services: parcels and estates in one list. */
export const marketplaceRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/marketplace',
    {
      schema: {
        tags: ['publications'],
        operationId: 'marketplace',
        summary: 'Parcels and estates for sale, or sold, in one list',
        querystring: Type.Object({
          asset_type: Type.Optional(oneOf(['parcel', 'estate'], { description: 'Both if left out.' })),
          ...listingQuery,
        }),
        responses: freshSchema(
          Type.Object({ assets: Type.Array(Type.Union([parcelSchema, estateSchema])), ...pageSchema }),
          ['invalid_parameter', 'database_unavailable'],
        ),
      },
    },
    (request, reply) => {
      const { asset_type, ...query } = request.query
      return answerListing(request, reply, { land, name: 'assets', assetType: asset_type }, query)
    },
  )
}
