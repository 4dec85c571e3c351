import Type from 'typebox'
import { addressText, closedObject, idText, oneOf, orNull, wholeNumber } from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'
import { PLACE_TYPES } from './place-types.ts'

const searchResult = closedObject(
  {
    type: oneOf(PLACE_TYPES),
    id: idText('Parcel: x,y. Estate: decimal digits. District: UUID. Address: the address.'),
    name: orNull(Type.String({ description: 'As its owner wrote it.' })),
    x: orNull(wholeNumber('Column of a parcel of it; null for an address that owns nothing.')),
    y: orNull(wholeNumber('Row of that parcel.')),
    parcels: Type.Integer({
      minimum: 0,
      description: 'How many it has: 1 for a parcel; for an address those that it owns outside its estates.',
    }),
    estates: orNull(
      Type.Integer({ minimum: 0, description: 'For an address: how many estates with parcels it owns.' }),
    ),
    owner: orNull(
      addressText(
        "Of a parcel in an estate the estate's, of an address itself. Null for districts and unowned land.",
      ),
    ),
  },
  'A place that was found.',
)

/** What openapi.json names once. */
export const SEARCH_SHAPES = { SearchResult: searchResult } as const

export const searchResultSchema = shapeRef('SearchResult')
