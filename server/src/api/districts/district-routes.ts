import { coordText } from '@landpass/client/grid'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { DATA } from '../../http/answer.ts'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { formatSchema, freshSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { findDistrict, type ListedDistrict } from '../../land/records/district.ts'
import type { State } from '../../state/state.ts'
import type { LandContext } from '../common/land-context.ts'
import { strictQuery } from '../common/land-filters.ts'
import { idParams, lowerCase } from '../common/parameters.ts'
import { districtSchema } from '../common/schemas.ts'
import { DISTRICTS_GEOJSON, districtFeatures } from './district-outlines.ts'
import { districtWithParcelsSchema } from './district-shapes.ts'

/** Parcels whose district is compared for one unit. */
const SCANNED_PER_UNIT = 20_000
/** Parcels of the world for one unit, where those of all districts are written. */
const LISTED_PER_UNIT = 2_500

/** `/districts` of the older interface, and one district with its parcels. */
export const districtRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/districts',
    {
      schema: {
        tags: ['districts'],
        operationId: 'districts',
        summary: 'All districts, by name',
        responses: freshSchema(Type.Array(districtSchema)),
      },
    },
    (request, reply) =>
      send(request, reply, () => {
        const moment = land.moment()
        const { state } = moment
        const body = () => [state.parts.districts.listJson]
        return { freshness: state.freshness(), format: DATA, body, moment }
      }),
  )
  oneDistrictRoute(app, { land })
}

/** `/districts` below `/v2`, where the public atlas server has parcels in it, and one district. */
export const newerDistrictRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/districts',
    {
      schema: {
        tags: ['districts'],
        operationId: 'districts',
        summary: 'All districts with their parcels, by name',
        responses: freshSchema(Type.Array(districtWithParcelsSchema)),
      },
    },
    (request, reply) => {
      const state = land.state()
      const cost = SMALL_ANSWER_UNITS + state.parts.parcels.x.length / LISTED_PER_UNIT
      const body = () => JSON.stringify(withParcels(state, JSON.parse(listText(state))))
      return send(request, reply, { freshness: state.freshness(), format: DATA, cost, body })
    },
  )
  app.get(
    '/districts.geojson',
    {
      schema: {
        tags: ['districts'],
        operationId: 'districtsGeoJson',
        summary: 'The outlines of all districts as GeoJSON',
        description:
          'A feature for each district with parcels in the world, aligned with the image tiles. Its properties are the fields of a district.',
        querystring: strictQuery({}),
        responses: formatSchema(
          DISTRICTS_GEOJSON.contentType,
          { description: 'All districts, by name.', body: Type.String() },
          ['invalid_parameter'],
        ),
      },
    },
    (request, reply) => {
      const state = land.state()
      const cost = SMALL_ANSWER_UNITS + state.parts.parcels.x.length / LISTED_PER_UNIT
      const body = () => districtFeatures(state, JSON.parse(listText(state)))
      const { contentType, fileName } = DISTRICTS_GEOJSON
      return send(request, reply, {
        freshness: state.freshness(),
        format: { contentType, fileName: fileName! },
        cost,
        body,
      })
    },
  )
  oneDistrictRoute(app, { land })
}

const oneDistrictRoute: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/districts/:id',
    {
      schema: {
        tags: ['districts'],
        operationId: 'district',
        summary: 'One district, with its parcels',
        params: idParams('id', 'District id.', 'DistrictId'),
        responses: freshSchema(districtWithParcelsSchema, ['invalid_parameter', 'district_not_found']),
      },
    },
    (request, reply) => {
      const state = land.state()
      const id = lowerCase(request.params.id!)
      const district = findDistrict(listText(state), id)
      if (!district) throw new AppError('district_not_found', 'There is no district with this id.', { id })
      const cost = SMALL_ANSWER_UNITS + state.parts.parcels.x.length / SCANNED_PER_UNIT
      const body = () => JSON.stringify(withParcels(state, [district])[0])
      return send(request, reply, { freshness: state.freshness(), format: DATA, cost, body })
    },
  )
}

function listText({ parts }: State): string {
  return Buffer.from(parts.districts.listJson).toString()
}

/** Districts with their parcels, in the order of rows: by x ascending, then y descending. */
function withParcels({ parts: { districts, parcels } }: State, list: readonly ListedDistrict[]) {
  const places = districts.ids.map((): string[] => [])
  const listed = new Set(list.map(({ id }) => districts.ids.indexOf(id)))
  parcels.district.forEach((district, row) => {
    if (listed.has(district)) places[district]!.push(coordText({ x: parcels.x[row]!, y: parcels.y[row]! }))
  })
  return list.map((district) => {
    const own = places[districts.ids.indexOf(district.id)]!
    return { ...district, parcels: own, totalParcels: own.length }
  })
}
