import Type from 'typebox'
import { closedObject, epochMs, idText, mana } from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'

const prices = () => Type.Array(mana(), { description: 'With every digit.' })
const expiryTimes = () => Type.Array(epochMs())

const offers = closedObject(
  {
    total: Type.Integer({ minimum: 0, description: 'Offers of both lists.' }),
    parcels: closedObject(
      {
        x: Type.Array(Type.Integer()),
        y: Type.Array(Type.Integer()),
        price: prices(),
        expires_at: expiryTimes(),
      },
      'By x ascending, then y descending.',
    ),
    estates: closedObject(
      { id: Type.Array(idText('Decimal digits.')), price: prices(), expires_at: expiryTimes() },
      'By id. Estates without parcels are left out.',
    ),
  },
  'Lists of the same length: equal indexes belong to the same offer.',
)

/** Named schemas of openapi.json. */
export const OFFER_SHAPES = { Offers: offers } as const

export const offersSchema = shapeRef('Offers')
