import Type from 'typebox'
import { BID } from '../../land/records/bid.ts'
import { CONTRIBUTION } from '../../land/records/contribution.ts'
import { DISTRICT } from '../../land/records/district.ts'
import { ESTATE } from '../../land/records/estate.ts'
import { MORTGAGE } from '../../land/records/mortgage.ts'
import { PARCEL } from '../../land/records/parcel.ts'
import { PUBLICATION } from '../../land/records/publication.ts'
import * as schemaParts from '../../schema-parts.ts'

/** The schemas of records, by their names in openapi.json. */
export const RECORD_SHAPES = {
  Publication: PUBLICATION.shape(schemaParts),
  Parcel: PARCEL.shape(schemaParts),
  Estate: ESTATE.shape(schemaParts),
  Bid: BID.shape(schemaParts),
  Mortgage: MORTGAGE.shape(schemaParts),
  District: DISTRICT.shape(schemaParts),
  Contribution: CONTRIBUTION.shape(schemaParts),
} as const

/** A reference to a named schema of openapi.json. */
export function shapeRef(name: string) {
  return Type.Unsafe({ $ref: `${name}#` })
}

export const publicationSchema = shapeRef('Publication')
export const parcelSchema = shapeRef('Parcel')
export const estateSchema = shapeRef('Estate')
export const bidSchema = shapeRef('Bid')
export const mortgageSchema = shapeRef('Mortgage')
export const districtSchema = shapeRef('District')
export const contributionSchema = shapeRef('Contribution')
