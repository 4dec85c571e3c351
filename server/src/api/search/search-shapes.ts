import Type from 'typebox'
import { addressText, closedObject, idText, oneOf, orNull, wholeNumber } from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'
import { PLACE_TYPES } from './place-types.ts'

const searchResult = closedObject(
  {
    type: oneOf(PLACE_TYPES),
    id: idText('Parcel: x,y. Estate: decimal digits. District: UUID. Address: the address.'),
    name: orNull(Type.String({ description: 'As its owner wrote it.' })),
    x: orNull(wholeNumber('Column of one of its parcels; null for an address that owns nothing.')),
    y: orNull(wholeNumber('Row of that parcel.')),
    parcels: Type.Integer({
      minimum: 0,
      description: 'For an address: the parcels that it owns outside its estates.',
    }),
    estates: orNull(
      Type.Integer({
        minimum: 0,
        description: 'For an address: the number of estates with parcels that it owns.',
      }),
    ),
    owner: orNull(
      addressText(
        "For a parcel in an estate, the estate's owner; for an address, itself. Null for districts and unowned land.",
      ),
    ),
  },
  'A search result.',
)

/** Named schemas of openapi.json. */
export const SEARCH_SHAPES = { SearchResult: searchResult } as const

export const searchResultSchema = shapeRef('SearchResult')
