import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { coordText } from '@landpass/client/grid'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { DATA, send } from '../../http/answer.ts'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import { freshSchema } from '../../http/schemas.ts'
import { findDistrict } from '../../land/records/district.ts'
import type { State } from '../../state/state.ts'
import type { LandContext } from '../common/land-context.ts'
import { idParams } from '../common/parameters.ts'
import { districtSchema } from '../common/schemas.ts'
import { districtWithParcelsSchema } from './district-shapes.ts'

/** Parcels whose district is compared for one unit. */
const SCANNED_PER_UNIT = 20_000

/** The endpoints of districts: all of them, and one with its parcels. */
export const districtRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (app, { land }, done) => {
  app.get(
    '/districts',
    {
      schema: {
        tags: ['districts'],
        operationId: 'districts',
        summary: 'All districts, by name',
        response: freshSchema(Type.Array(districtSchema)),
      },
    },
    (request, reply) => {
      const state = land.state()
      const body = () => [state.parts.districts.listJson]
      return send(request, reply, { freshness: state.freshness(), format: DATA, body })
    },
  )

  app.get(
    '/districts/:id',
    {
      schema: {
        tags: ['districts'],
        operationId: 'district',
        summary: 'One district, with its parcels',
        params: idParams('id', 'District id.', 'DistrictId'),
        response: freshSchema(districtWithParcelsSchema, ['invalid_parameter', 'district_not_found']),
      },
    },
    (request, reply) => {
      const state = land.state()
      const id = request.params.id!
      const district = findDistrict(listText(state), id)
      if (!district) throw new AppError('district_not_found', 'There is no district with this id.', { id })
      const cost = SMALL_ANSWER_UNITS + state.parts.parcels.x.length / SCANNED_PER_UNIT
      const body = () => JSON.stringify({ ...district, parcels: parcelsOf(state, id) })
      return send(request, reply, { freshness: state.freshness(), format: DATA, cost, body })
    },
  )
  done()
}

function listText({ parts }: State): string {
  return Buffer.from(parts.districts.listJson).toString()
}

/** In the order of rows: by x ascending, then y descending. */
function parcelsOf({ parts: { districts, parcels } }: State, id: string): string[] {
  const place = districts.ids.indexOf(id)
  const places: string[] = []
  parcels.district.forEach((district, row) => {
    if (district === place) places.push(coordText({ x: parcels.x[row]!, y: parcels.y[row]! }))
  })
  return places
}
