import type { FastifyPluginCallback } from 'fastify'
import { contributionRoutes } from './contributions/contribution-routes.ts'
import { districtRoutes } from './districts/district-routes.ts'
import { exportRoutes } from './export/export-routes.ts'
import { feedRoutes } from './feed/feed-routes.ts'
import type { LandContext } from './land-context.ts'
import { type TokenSettings, tokenRoutes } from './tokens/token-routes.ts'

/**
 * What is answered below `/v2`, next to `/v2/tiles`: tokens, the world as files and as a feed, and districts and
 * contributions once more.
 */
export const v2Routes: FastifyPluginCallback<{ land: LandContext; settings: TokenSettings }> = (
  app,
  { land, settings },
  done,
) => {
  app.register(contributionRoutes, { land })
  app.register(districtRoutes, { land })
  app.register(exportRoutes, { land })
  app.register(feedRoutes, { land })
  app.register(tokenRoutes, { land, settings })
  done()
}
