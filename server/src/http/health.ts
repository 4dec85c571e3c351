import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Metrics } from './metrics.ts'
import { okSchema, streamSchema } from './schemas.ts'

/** Resolves if the server can answer requests. @throws {AppError} that names what is missing */
export type ReadinessCheck = () => Promise<Readonly<Record<string, unknown>>>

export function healthRoutes(
  app: FastifyInstance,
  options: { isReady: ReadinessCheck; metrics: Metrics },
): void {
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
          'database_read_only',
          'database_full',
        ]),
      },
    },
    async (_request, reply) => {
      const facts = await options.isReady()
      return reply.header('cache-control', 'no-store').send({ ok: true, data: { status: 'ready', ...facts } })
    },
  )
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['operation'],
        operationId: 'metrics',
        summary: 'Figures in the text format of Prometheus',
        response: streamSchema('text/plain', { description: 'Figures.', body: Type.String() }, []),
      },
    },
    async (_request, reply) => {
      const text = await options.metrics.registry.metrics()
      return reply.header('cache-control', 'no-store').type(options.metrics.registry.contentType).send(text)
    },
  )
}
