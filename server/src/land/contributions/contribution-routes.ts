import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { freshSchema } from '../../http/schemas.ts'
import { answerRows } from '../land-answers.ts'
import type { LandContext } from '../land-context.ts'
import { addressParams, lowerCase } from '../parameters.ts'
import { contributionSchema } from '../schemas.ts'
import { type Contribution, contributionsOf } from './contribution-queries.ts'

/** `GET /addresses/:address/contributions` (interfaces.md, 4.2). */
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
        summary: 'What an address contributed: one row for each district, by district id',
        params: addressParams,
        response: freshSchema(Type.Array(contributionSchema), ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const present = land.present()
      const address = lowerCase(request.params.address)
      const read = () => contributionsOf(land.db, present.worldId, address)
      return answerRows(request, reply, present.freshness(), read, contributionJson)
    },
  )
  done()
}

function contributionJson({ address, district_id, land_count }: Contribution): string {
  return `{"address":"${address}","district_id":"${district_id}","land_count":"${land_count}"}`
}
