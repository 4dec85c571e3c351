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

/** Adds routes. A plugin of the framework in its place would have its own classes of requests and replies, which takes time at the start. */
export type Routes<Parts> = (app: RouteServer, parts: Parts) => void

/** Adds routes, below a prefix where one is given. */
export async function serveRoutes<Parts>(
  app: FastifyInstance,
  routes: Routes<Parts>,
  parts: Parts,
  prefix = '',
): Promise<void> {
  await app.register(async (scope) => routes(scope.withTypeProvider<TypeBoxTypeProvider>(), parts), {
    prefix,
  })
}
