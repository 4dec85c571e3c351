import type { FastifyInstance } from 'fastify'
import { HIDDEN } from '../http/schemas.ts'

/** Until the map page exists, `/` leads to the page that describes the interface. */
export function frontPage(app: FastifyInstance): void {
  app.get('/', { schema: HIDDEN }, (_request, reply) => reply.redirect('/docs/', 302))
}
