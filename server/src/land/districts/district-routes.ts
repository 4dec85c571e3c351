import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { answer, jsonPiece } from '../../http/answers.ts'
import { freshSchema } from '../../http/schemas.ts'
import { coordText } from '../../world/coord.ts'
import type { LandContext } from '../land-context.ts'
import { idParams } from '../parameters.ts'
import type { Present } from '../present/present.ts'
import { districtSchema, districtWithParcelsSchema } from '../schemas.ts'
import { findDistrict } from './district-json.ts'

/** The districts (interfaces.md, 4.2): all of them, and one with its parcels. */
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
      return answer(request, reply, present.freshness(), () => [present.parts.districts.listJson])
    },
  )

  app.get(
    '/districts/:id',
    {
      schema: {
        tags: ['districts'],
        summary: 'One district, with its parcels',
        params: idParams('id', 'District id.'),
        response: freshSchema(districtWithParcelsSchema, ['invalid_parameter', 'district_not_found']),
      },
    },
    (request, reply) => {
      const present = land.present()
      const id = request.params.id!
      const district = findDistrict(listText(present), id)
      if (!district) throw new AppError('district_not_found', 'There is no district with this id.', { id })
      return answer(request, reply, present.freshness(), () =>
        jsonPiece(JSON.stringify({ ...district, parcels: parcelsOf(present, id) })),
      )
    },
  )
  done()
}

function listText({ parts }: Present): string {
  return Buffer.from(parts.districts.listJson).toString()
}

/** By x ascending, then y descending: the order of rows. */
function parcelsOf({ parts: { districts, parcels } }: Present, id: string): string[] {
  const place = districts.ids.indexOf(id)
  const places: string[] = []
  parcels.district.forEach((district, row) => {
    if (district === place) places.push(coordText({ x: parcels.x[row]!, y: parcels.y[row]! }))
  })
  return places
}
