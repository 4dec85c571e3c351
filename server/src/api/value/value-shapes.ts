import Type from 'typebox'
import { closedObject, idText, manaText, oneOf, orNull, wholeNumber } from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'
import { saleFields } from '../sales/sales-shapes.ts'

const number = (description: string) => orNull(manaText(description))

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
    asset_type: oneOf(['parcel', 'estate']),
    asset_id: idText('x,y of a parcel, or the id of an estate.'),
    x: wholeNumber(),
    y: wholeNumber(),
    size: wholeNumber('Parcels.'),
    price: manaText('The price.'),
    price_per_parcel: manaText('Rounded down.'),
    distance: Type.Number({ minimum: 0, description: 'In parcels.' }),
    why: Type.String(),
  },
  'An open offer near the asset.',
)

const value = closedObject(
  {
    low: number('Of the whole asset.'),
    middle: number('Of the whole asset.'),
    high: number('Of the whole asset.'),
    per_parcel: closedObject(
      { low: number('Of a parcel.'), middle: number('Of a parcel.'), high: number('Of a parcel.') },
      'The same for each parcel.',
    ),
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
          price: manaText('The price.'),
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
export const VALUE_SHAPES = { ComparableSale: comparable, NearOffer: nearOffer, LandValue: value } as const

export const valueSchema = shapeRef('LandValue')
