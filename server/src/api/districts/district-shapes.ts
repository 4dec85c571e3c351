import Type from 'typebox'
import { closedObject } from '../../schema-parts.ts'
import { RECORD_SHAPES, shapeRef } from '../common/schemas.ts'

const districtWithParcels = closedObject(
  {
    ...RECORD_SHAPES.District.properties,
    parcels: Type.Array(Type.String(), { description: 'x,y of each, by x ascending, then y descending.' }),
  },
  'A themed area and its parcels.',
)

/** What openapi.json names once. */
export const DISTRICT_SHAPES = { DistrictWithParcels: districtWithParcels } as const

export const districtWithParcelsSchema = shapeRef('DistrictWithParcels')
