import Type from 'typebox'
import { assetFields, closedObject, manaText, orNull, wholeNumber } from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'
import { saleFields } from '../sales/sales-shapes.ts'

const amount = orNull(manaText())
const range = closedObject(
  { low: amount, middle: amount, high: amount },
  'The prices below which 10 %, 50 % and 90 % of the weight of comparable sales lie.',
)

const comparable = closedObject(
  {
    ...saleFields(),
    weight: Type.Number({ minimum: 0, maximum: 1, description: 'How much it counts.' }),
    is_own: Type.Boolean({ description: 'Whether it is an earlier sale of the asset itself.' }),
    why: Type.String({ description: 'What it has in common with the asset.' }),
  },
  'A comparable sale.',
)

const nearOffer = closedObject(
  {
    ...assetFields(),
    x: wholeNumber(),
    y: wholeNumber(),
    size: wholeNumber('Parcels.'),
    price: manaText(),
    price_per_parcel: manaText('Rounded down.'),
    distance: Type.Number({ minimum: 0, description: 'In parcels.' }),
    why: Type.String(),
  },
  'An open offer near the asset.',
)

const value = closedObject(
  {
    ...range.properties,
    per_parcel: shapeRef('PriceRange'),
    basis: closedObject(
      {
        sales: Type.Array(shapeRef('ComparableSale'), { description: 'The heaviest first.' }),
        offers: Type.Array(shapeRef('NearOffer'), { description: 'The nearest first.' }),
      },
      'What the range follows from. With fewer than five sales the numbers are null.',
    ),
    method: Type.String({ description: 'How sales were chosen and weighted.' }),
    offer: orNull(
      closedObject(
        {
          price: manaText(),
          above_range: orNull(
            Type.Number({
              description: '0 within the range, 0.12 where it is 12 % above it, negative below it.',
            }),
          ),
        },
        'Its own cheapest open offer.',
      ),
    ),
  },
  'What an asset may be worth.',
)

/** Named schemas of openapi.json. */
export const VALUE_SHAPES = {
  ComparableSale: comparable,
  NearOffer: nearOffer,
  PriceRange: range,
  LandValue: value,
} as const

export const valueSchema = shapeRef('LandValue')
