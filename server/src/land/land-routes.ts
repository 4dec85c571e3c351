import type { FastifyPluginCallback } from 'fastify'
import { mapRoutes } from './area/map-routes.ts'
import { bidRoutes } from './bids/bid-routes.ts'
import { contributionRoutes } from './contributions/contribution-routes.ts'
import { districtRoutes } from './districts/district-routes.ts'
import { estateRoutes } from './estates/estate-routes.ts'
import type { LandContext } from './land-context.ts'
import { marketplaceRoutes } from './marketplace/marketplace-routes.ts'
import { mortgageRoutes } from './mortgages/mortgage-routes.ts'
import { parcelRoutes } from './parcels/parcel-routes.ts'
import { publicationRoutes } from './publications/publication-routes.ts'

/** Every JSON endpoint of the land data interface. Registered twice: as it is, and below `/v1`. */
export const landRoutes: FastifyPluginCallback<{ land: LandContext }> = (app, { land }, done) => {
  const options = { land }
  app.register(bidRoutes, options)
  app.register(contributionRoutes, options)
  app.register(districtRoutes, options)
  app.register(estateRoutes, options)
  app.register(mapRoutes, options)
  app.register(marketplaceRoutes, options)
  app.register(mortgageRoutes, options)
  app.register(parcelRoutes, options)
  app.register(publicationRoutes, options)
  done()
}
