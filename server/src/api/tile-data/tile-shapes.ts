import Type from 'typebox'
import {
  addressText,
  closedObject,
  epochMs,
  idText,
  mana,
  manaText,
  oneOf,
  wholeNumber,
} from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'
import { ADDRESS_TYPES } from './tile-forms.ts'

const edge = Type.Optional(
  Type.Boolean({
    title: 'TileEdge',
    description: 'The neighbour there is in the same estate or district: top is north, left is west.',
  }),
)
const legacyEdge = Type.Optional(Type.Literal(1, { title: 'LegacyTileEdge', description: 'As TileEdge.' }))

/** Every field is optional: a tile has those that are known and requested. */
const tile = closedObject(
  {
    id: Type.Optional(idText('x,y')),
    x: Type.Optional(wholeNumber()),
    y: Type.Optional(wholeNumber()),
    updatedAt: Type.Optional(
      wholeNumber('Last change of the parcel or its estate. Milliseconds since 1970-01-01 UTC.'),
    ),
    type: Type.Optional(oneOf(['owned', 'unowned', 'plaza', 'road', 'district'] as const)),
    top: edge,
    left: edge,
    topLeft: edge,
    name: Type.Optional(Type.String({ description: 'The name of the estate, or else of the parcel.' })),
    estateId: Type.Optional(idText('Estate that holds the parcel.')),
    district_id: Type.Optional(idText('District that it belongs to; roads and plazas are districts too.')),
    owner: Type.Optional(addressText('The owner of the estate, or else of the parcel.')),
    price: Type.Optional(mana()),
    expiresAt: Type.Optional(wholeNumber('When the offer ends, in seconds since 1970.')),
    tokenId: Type.Optional(Type.String({ pattern: '^\\d+$', description: 'Exact decimal digits.' })),
    nftId: Type.Optional(
      idText(
        'The id of the estate: estate-<contract>-<id>; else of the parcel: parcel-<contract>-<token id>.',
      ),
    ),
    rentalListing: Type.Optional(
      closedObject(
        {
          expiration: wholeNumber('It stays after that time: compare it. Milliseconds since 1970-01-01 UTC.'),
          updatedAt: epochMs(),
          periods: Type.Array(
            closedObject(
              {
                minDays: wholeNumber(),
                maxDays: wholeNumber(),
                pricePerDay: Type.String({ pattern: '^\\d+$', description: 'Wei of MANA.' }),
              },
              'For how long it can be rented, and for how much.',
            ),
          ),
        },
        'The newest open offer to rent it, or its estate. It cannot be named in include.',
      ),
    ),
  },
  'A parcel on the map.',
)

function oneOfNumbers(values: readonly number[], description: string) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  )
}

const legacyTile = closedObject(
  {
    type: Type.Optional(
      Type.Integer({ description: '5 district, 7 road, 8 plaza, 9 owned, 10 on sale, 11 unowned.' }),
    ),
    x: Type.Optional(wholeNumber()),
    y: Type.Optional(wholeNumber()),
    top: legacyEdge,
    left: legacyEdge,
    topLeft: legacyEdge,
    owner: Type.Optional(addressText('The owner of the estate, or else of the parcel.')),
    name: Type.Optional(
      Type.String({
        description: 'The name of the district if the type is district; else of the estate or the parcel.',
      }),
    ),
    estate_id: Type.Optional(idText('Estate that holds the parcel.')),
    district_id: Type.Optional(idText('District that it belongs to.')),
    price: Type.Optional(mana()),
    rentalPricePerDay: Type.Optional(
      Type.String({
        pattern: '^\\d+$',
        description: 'The highest price for a day of an open offer to rent it, in wei of MANA.',
      }),
    ),
  },
  'A parcel on the map, in the older form.',
)

const addressTile = closedObject(
  {
    type: oneOfNumbers(
      Object.values(ADDRESS_TYPES),
      '0 own parcel, 1 own parcel on sale, 2 own estate, 3 own estate on sale, 4 may operate or update it, 6 in a district to which the address contributed.',
    ),
    x: wholeNumber(),
    y: wholeNumber(),
    top: legacyEdge,
    left: legacyEdge,
    topLeft: legacyEdge,
    name: Type.Optional(
      Type.String({
        description: 'The name of the estate, or else of the parcel; for type 6 of the district.',
      }),
    ),
    estate_id: Type.Optional(idText('Estate that holds the parcel.')),
    price: Type.Optional(manaText()),
  },
  'A parcel on the map as an address sees it, in the older form.',
)

/** Named schemas of openapi.json. */
export const TILE_SHAPES = { Tile: tile, LegacyTile: legacyTile, AddressTile: addressTile } as const

export const tileSchema = shapeRef('Tile')
export const legacyTileSchema = shapeRef('LegacyTile')
export const addressTileSchema = shapeRef('AddressTile')
