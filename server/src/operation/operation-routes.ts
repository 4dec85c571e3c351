import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../errors.ts'
import { okSchema } from '../http/schemas.ts'
import { oneOf, orNull } from '../schema-parts.ts'
import { VERSION } from '../version.ts'
import type { Found } from './find.ts'
import { CONDITIONS, FACTS, PARTS, PROBLEMS, partsOf } from './parts.ts'

export interface OperationOptions {
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
  readonly find: () => Promise<Found>
}

/** It asks the database some questions. */
const COST_UNITS = 50

const operationSchema = Type.Object({
  version: Type.String({ description: 'The version of Landpass.' }),
  started_at: Type.String({
    format: 'date-time',
    description: 'When the oldest process of this server began.',
  }),
  parts: Type.Array(
    Type.Object({
      part: oneOf(PARTS),
      condition: oneOf(CONDITIONS, {
        description:
          'look: it works, but look at it; off: this server does not have it; unknown: not asked since the start, or not readable now.',
      }),
      problem: orNull(oneOf(PROBLEMS)),
      facts: Type.Partial(Type.Object(Object.fromEntries(FACTS.map((name) => [name, Type.Number()]))), {
        description:
          'Counts are those of all processes of this server since their start; age_s is in seconds.',
      }),
    }),
  ),
})

/** `GET /operate/parts`, for the page `/operate` */
export function operationRoutes(app: FastifyInstance, { isOperator, find }: OperationOptions): void {
  app.get(
    '/operate/parts',
    {
      config: { cost: COST_UNITS },
      schema: {
        tags: ['operation'],
        operationId: 'operatedParts',
        summary:
          'For the operator: the condition of each part, and why it is not good. Needs the header Operator-Key',
        responses: okSchema(operationSchema, ['operator_only', 'too_many_requests']),
      },
    },
    async (request, reply) => {
      if (!isOperator(request))
        throw new AppError(
          'operator_only',
          'Only the operator reads this: the header Operator-Key is missing or wrong.',
        )
      const found = await find()
      const started_at = new Date(found.startedAtMs).toISOString()
      const data = { version: VERSION, started_at, parts: partsOf(found) }
      return reply.header('cache-control', 'no-store').send({ ok: true, data })
    },
  )
}
