import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Metrics } from './metrics.ts'
import { okSchema, streamSchema } from './schemas.ts'

/** Resolves if the server can answer requests. @throws {AppError} that names what is missing */
export type ReadinessCheck = () => Promise<Readonly<Record<string, unknown>>>

export function healthRoutes(app: FastifyInstance, options: { isReady: ReadinessCheck }): void {
  app.get(
    '/health/live',
    {
      schema: {
        tags: ['operation'],
        operationId: 'live',
        summary: 'Is the process alive?',
        response: okSchema(Type.Object({ status: Type.Literal('live') })),
      },
    },
    (_request, reply) =>
      reply.header('cache-control', 'no-store').send({ ok: true, data: { status: 'live' } }),
  )
  app.get(
    '/health/ready',
    {
      schema: {
        tags: ['operation'],
        operationId: 'ready',
        summary: 'Can it answer? 503 until the migrations ran, the world is loaded and the database answers',
        response: okSchema(Type.Object({ status: Type.Literal('ready') }, { additionalProperties: true }), [
          'world_not_loaded',
          'database_unavailable',
        ]),
      },
    },
    async (_request, reply) => {
      const facts = await options.isReady()
      return reply.header('cache-control', 'no-store').send({ ok: true, data: { status: 'ready', ...facts } })
    },
  )
}

/** What a scrape costs, in units of one parcel read. */
export const SCRAPE_UNITS = 10

/** `GET /metrics`, at another path where a setting says so. */
export function metricsRoute(app: FastifyInstance, metrics: Metrics, path: string): void {
  app.get(
    path,
    {
      schema: {
        tags: ['operation'],
        operationId: 'metrics',
        summary: 'Figures in the text format of Prometheus',
        response: streamSchema('text/plain', { description: 'Figures.', body: Type.String() }, [
          'too_many_requests',
        ]),
      },
    },
    async (request, reply) => {
      request.costAccount?.charge(reply, SCRAPE_UNITS)
      const text = await metrics.registry.metrics()
      return reply.header('cache-control', 'no-store').type(metrics.registry.contentType).send(text)
    },
  )
}
