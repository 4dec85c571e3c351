import Type from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { freshSchema } from '../../http/schemas.ts'
import type { LandContext } from '../common/land-context.ts'
import { estateSchema, parcelSchema } from '../common/schemas.ts'
import { answerArea, MAP_FORM, readArea } from './area.ts'

const corner = (name: string) => Type.String({ 'x-allowed': 'x,y', description: `${name} corner, as x,y.` })

/** `GET /map`: the parcels and estates of an area. */
export const mapRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/map',
    {
      schema: {
        tags: ['map'],
        operationId: 'mapArea',
        summary: 'The parcels of an area, and the estates that have a parcel in it',
        description: 'Parcels by x ascending, then y descending; estates by id. The whole world is streamed.',
        querystring: Type.Object({ nw: corner('North-west'), se: corner('South-east') }),
        responses: freshSchema(
          Type.Object({
            assets: Type.Object({ parcels: Type.Array(parcelSchema), estates: Type.Array(estateSchema) }),
            total: Type.Integer({ description: 'Parcels plus estates.' }),
          }),
          ['invalid_parameter', 'too_many_large_answers'],
        ),
      },
    },
    (request, reply) => answerArea(request, reply, land, readArea(land.world, request.query), MAP_FORM),
  )
}
