import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'

/** A server whose routes read parameters with the types of their schemas. */
export type RouteServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/**
 * Adds routes to a server. A plain function, because each plugin of the framework makes its own classes of requests and replies, which
 * slows the start; {@link serveRoutes} makes one plugin for many routes.
 */
export type Routes<Options> = (app: RouteServer, options: Options) => void

/** The same server, for routes. */
export function routeServer(app: FastifyInstance): RouteServer {
  return app.withTypeProvider<TypeBoxTypeProvider>()
}

/** Adds routes, below a prefix where one is given. */
export async function serveRoutes<Options>(
  app: FastifyInstance,
  routes: Routes<Options>,
  options: Options,
  prefix = '',
): Promise<void> {
  await app.register(async (scope) => routes(routeServer(scope), options), { prefix })
}
