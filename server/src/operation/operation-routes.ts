import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../errors.ts'
import { okSchema } from '../http/schemas.ts'
import { oneOf, orNull } from '../schema-parts.ts'
import { VERSION } from '../version.ts'
import { CONDITIONS, FACTS, type Findings, PARTS, PROBLEMS, partsOf } from './parts.ts'

export interface OperationOptions {
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
  readonly find: () => Promise<Findings>
  readonly startedAtMs: number
}

/** It asks the database some questions. */
const COST_UNITS = 50

const operationSchema = Type.Object({
  version: Type.String({ description: 'The version of Landpass.' }),
  started_at: Type.String({ format: 'date-time', description: 'When this process began.' }),
  parts: Type.Array(
    Type.Object({
      part: oneOf(PARTS),
      condition: oneOf(CONDITIONS, {
        description:
          'look: it works, but look at it; off: this server does not have it; unknown: not asked since the start.',
      }),
      problem: orNull(oneOf(PROBLEMS)),
      facts: Type.Partial(Type.Object(Object.fromEntries(FACTS.map((name) => [name, Type.Number()]))), {
        description: 'Counts are those of this process since its start; age_s is in seconds.',
      }),
    }),
  ),
})

/** `GET /operate/parts`, for the page `/operate` */
export function operationRoutes(
  app: FastifyInstance,
  { isOperator, find, startedAtMs }: OperationOptions,
): void {
  app.get(
    '/operate/parts',
    {
      config: { cost: COST_UNITS },
      schema: {
        tags: ['operation'],
        operationId: 'operatedParts',
        summary:
          'For the operator: the condition of each part, and why it is not good. Needs the header Operator-Key',
        response: okSchema(operationSchema, ['operator_only', 'too_many_requests']),
      },
    },
    async (request, reply) => {
      if (!isOperator(request))
        throw new AppError(
          'operator_only',
          'Only the operator reads this: the header Operator-Key is missing or wrong.',
        )
      const parts = partsOf(await find())
      const data = { version: VERSION, started_at: new Date(startedAtMs).toISOString(), parts }
      return reply.header('cache-control', 'no-store').send({ ok: true, data })
    },
  )
}
