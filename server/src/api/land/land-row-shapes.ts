import Type from 'typebox'
import {
  addressText,
  assetFields,
  closedObject,
  digitsText,
  epochMs,
  hashText,
  idText,
  manaText,
  nextCursor,
  oneOf,
  orNull,
  wholeNumber,
} from '../../schema-parts.ts'
import { rentalPeriodsSchema } from '../common/rental-periods.ts'
import { shapeRef } from '../common/schemas.ts'

const distance = (to: string) =>
  orNull(
    Type.Integer({ minimum: 0, description: `Parcels to the nearest ${to}; of an estate the smallest.` }),
  )

const offer = closedObject(
  {
    source: oneOf(['order', 'trade', 'auction']),
    price: manaText('0 for an offer in dollars.'),
    currency: oneOf(['mana', 'usd']),
    price_usd: orNull({ ...manaText(), description: 'The price in dollars, all digits.' }),
    listed_at: epochMs(),
    expires_at: epochMs(),
    tx_hash: hashText(
      'Transaction that made it, or the hash of the signature of an offer signed off the chain.',
    ),
  },
  'The cheapest open offer in MANA; where there is none, the cheapest one in dollars.',
)

const rentalOffer = closedObject(
  {
    price_per_day: manaText('For a day of the cheapest period.'),
    listed_at: epochMs(),
    expires_at: epochMs(),
    periods: rentalPeriodsSchema,
  },
  'The cheapest open offer to rent it.',
)

const row = closedObject(
  {
    ...assetFields(),
    x: wholeNumber(
      'The place of an estate is that of its most western parcel, the most northern one where several are.',
    ),
    y: wholeNumber(),
    estate_id: orNull(idText('The estate itself, or the one that holds the parcel.')),
    name: orNull(Type.String()),
    owner: orNull(addressText('A parcel in an estate has the owner of the estate.')),
    size: wholeNumber('Parcels in the world.'),
    width: wholeNumber('The side of the bounding box, in parcels.'),
    height: wholeNumber('The side of the bounding box, in parcels.'),
    parcels: Type.Optional(
      Type.Array(closedObject({ x: wholeNumber(), y: wholeNumber() }, 'A parcel.'), {
        description: 'With include=parcels: by x, then from north to south.',
      }),
    ),
    district_id: orNull(idText('The district of the parcel at x,y.')),
    plaza: distance('plaza'),
    road: distance('road'),
    offer: orNull(offer),
    rental_offer: orNull(rentalOffer),
    rent: orNull(closedObject({ tenant: addressText(), rented_until: epochMs() }, 'The rent that runs now.')),
    last_sale: orNull(
      closedObject({ price: manaText(), time: epochMs() }, 'The last sale, as in /v2/sales.'),
    ),
    price_per_parcel: orNull(manaText('Price of the offer for each parcel, rounded down.')),
    token_id: digitsText(),
    contract: addressText('Contract of the token.'),
  },
  'A parcel or an estate.',
)

const facet = Type.Array(
  Type.Object(
    { key: Type.String(), count: Type.Integer({ minimum: 1 }) },
    { additionalProperties: false, title: 'LandClass', description: 'A class and its number of rows.' },
  ),
)

const page = closedObject(
  {
    land: Type.Array(shapeRef('LandRow')),
    total: Type.Integer({ description: 'Rows of all pages.' }),
    limit: Type.Integer(),
    cursor: nextCursor(),
    facets: Type.Optional(
      closedObject(
        {
          price: Type.Optional(facet),
          price_per_parcel: Type.Optional(facet),
          size: Type.Optional(facet),
          plaza: Type.Optional(facet),
          road: Type.Optional(facet),
          district: Type.Optional(facet),
          asset_type: Type.Optional(facet),
        },
        'Counts over all rows. Classes without a row are left out.',
      ),
    ),
  },
  'A page of land.',
)

const cells = closedObject(
  {
    total: Type.Integer({ description: 'Parcels and estates that fit.' }),
    runs: Type.Array(Type.Integer(), {
      description: 'Pairs: the number of a cell, as in the feed, and how many cells from there on.',
    }),
  },
  'The cells of all land that fits.',
)

/** Named schemas of openapi.json. */
export const LAND_ROW_SHAPES = { LandRow: row, LandPage: page, LandCells: cells } as const

export const landPageSchema = shapeRef('LandPage')
export const landCellsSchema = shapeRef('LandCells')
