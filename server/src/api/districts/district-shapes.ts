import Type from 'typebox'
import { closedObject, wholeNumber } from '../../schema-parts.ts'
import { RECORD_SHAPES, shapeRef } from '../common/schemas.ts'

const districtWithParcels = closedObject(
  {
    ...RECORD_SHAPES.District.properties,
    parcels: Type.Array(Type.String(), {
      description: 'Coordinates x,y, by x ascending, then y descending.',
    }),
    totalParcels: wholeNumber('How many parcels these are.'),
  },
  'A themed area and its parcels.',
)

/** Named schemas of openapi.json. */
export const DISTRICT_SHAPES = { DistrictWithParcels: districtWithParcels } as const

export const districtWithParcelsSchema = shapeRef('DistrictWithParcels')
