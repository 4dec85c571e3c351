import { closedObject, idText, wholeNumber } from '../../schema-parts.ts'
import { RECORD_SHAPES, shapeRef } from '../common/schemas.ts'

const newerContribution = closedObject(
  {
    ...RECORD_SHAPES.Contribution.properties,
    districtId: idText('The same as district_id.'),
    totalParcels: wholeNumber('land_count as a number.'),
  },
  'A contribution, also with the field names of the public atlas server.',
)

/** Named schemas of openapi.json. */
export const CONTRIBUTION_SHAPES = { NewerContribution: newerContribution } as const

export const newerContributionSchema = shapeRef('NewerContribution')
