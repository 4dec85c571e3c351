import type { FastifyPluginCallback } from 'fastify'
import { changeRoutes } from './change-stream/change-routes.ts'
import type { ChangeStream } from './change-stream/change-stream.ts'
import { contributionRoutes } from './contributions/contribution-routes.ts'
import { districtRoutes } from './districts/district-routes.ts'
import { exportRoutes } from './export/export-routes.ts'
import { feedRoutes } from './feed/feed-routes.ts'
import type { LandContext } from './land-context.ts'
import { offerRoutes } from './offers/offer-routes.ts'
import { searchRoutes } from './search/search-routes.ts'
import { type TokenSettings, tokenRoutes } from './tokens/token-routes.ts'

/**
 * What is answered below `/v2`, next to `/v2/tiles`: tokens, the world as files and as a feed, its changes as they
 * happen, search, what is for sale, and districts and contributions once more.
 */
export const v2Routes: FastifyPluginCallback<V2Parts> = (app, { land, changeStream, settings }, done) => {
  app.register(changeRoutes, { changeStream })
  app.register(contributionRoutes, { land })
  app.register(districtRoutes, { land })
  app.register(exportRoutes, { land })
  app.register(feedRoutes, { land })
  app.register(offerRoutes, { land })
  app.register(searchRoutes, { land })
  app.register(tokenRoutes, { land, settings })
  done()
}

interface V2Parts {
  readonly land: LandContext
  readonly changeStream: ChangeStream
  readonly settings: TokenSettings
}
