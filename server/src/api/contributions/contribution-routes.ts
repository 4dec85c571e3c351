import Type, { type TSchema } from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { freshSchema } from '../../http/schemas.ts'
import { type Contribution, contributionsOf } from '../../land/queries/contribution-queries.ts'
import { contributionJson } from '../../land/records/contribution.ts'
import { sendRows } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { addressParams, lowerCase } from '../common/parameters.ts'
import { contributionSchema } from '../common/schemas.ts'
import { newerContributionSchema } from './contribution-shapes.ts'

/** `GET /addresses/:address/contributions`. */
export const contributionRoutes = routesOf(contributionSchema, contributionJson)

/** The same below `/v2`: also with the field names of the public atlas server. */
export const newerContributionRoutes = routesOf(newerContributionSchema, (row) => {
  const newer = { districtId: row.district_id, totalParcels: row.land_count }
  return `${contributionJson(row).slice(0, -1)},${JSON.stringify(newer).slice(1)}`
})

function routesOf(schema: TSchema, json: (row: Contribution) => string): Routes<{ land: LandContext }> {
  return (app, { land }) => {
    app.get(
      '/addresses/:address/contributions',
      {
        schema: {
          tags: ['districts'],
          operationId: 'contributionsOf',
          summary: 'What an address contributed: one row for each district, by district id',
          params: addressParams,
          responses: freshSchema(Type.Array(schema), ['invalid_parameter', 'database_unavailable']),
        },
      },
      (request, reply) => {
        const address = lowerCase(request.params.address)
        const read = (worldId: number) => contributionsOf(land.db, worldId, address)
        return sendRows(request, reply, land, { read, json })
      },
    )
  }
}
