import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { answer } from '../../http/answers.ts'
import { freshSchema } from '../../http/schemas.ts'
import type { LandContext } from '../land-context.ts'
import { districtSchema } from '../schemas.ts'

/** `GET /districts` (interfaces.md, 4.2). */
export const districtRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (app, { land }, done) => {
  app.get(
    '/districts',
    {
      schema: {
        tags: ['districts'],
        summary: 'All districts, by name',
        response: freshSchema(Type.Array(districtSchema)),
      },
    },
    (request, reply) => {
      const present = land.present()
      return answer(request, reply, present.freshness(), () => [present.parts.districts])
    },
  )
  done()
}
