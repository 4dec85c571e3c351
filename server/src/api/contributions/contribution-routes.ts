import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { DATA, send } from '../../http/answer.ts'
import { freshSchema } from '../../http/schemas.ts'
import { contributionsOf } from '../../land/queries/contribution-queries.ts'
import { contributionJson } from '../../land/records/contribution.ts'
import { QUERY_UNITS, rowsJson } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { addressParams, lowerCase } from '../common/parameters.ts'
import { contributionSchema } from '../common/schemas.ts'

/** `GET /addresses/:address/contributions`. */
export const contributionRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (
  app,
  { land },
  done,
) => {
  app.get(
    '/addresses/:address/contributions',
    {
      schema: {
        tags: ['districts'],
        operationId: 'contributionsOf',
        summary: 'What an address contributed: one row for each district, by district id',
        params: addressParams,
        response: freshSchema(Type.Array(contributionSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const state = land.state()
      const address = lowerCase(request.params.address)
      return send(request, reply, {
        freshness: state.freshness(),
        format: DATA,
        cost: QUERY_UNITS,
        body: () => rowsJson(contributionsOf(land.db, state.worldId, address), contributionJson),
      })
    },
  )
  done()
}
