import Type from 'typebox'
import { OFFER_STATES } from '../../land/records/statuses.ts'
import {
  addressText,
  closedObject,
  epochMs,
  idText,
  mana,
  manaText,
  oneOf,
  orNull,
} from '../../schema-parts.ts'
import { rentalPeriod, rentalPeriodsSchema } from '../common/rental-periods.ts'
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

const rentalOffer = closedObject(
  {
    id: Type.String({ description: 'As in /v1/rentals-listings.' }),
    lessor: addressText(),
    price_per_day: manaText('For a day of the cheapest period.'),
    listed_at: epochMs(),
    expires_at: epochMs(),
    periods: rentalPeriodsSchema,
    state: oneOf(OFFER_STATES, { title: 'OfferState' }),
    state_reason: orNull(Type.String({ description: 'Why it cannot be accepted now.' })),
  },
  'An offer to rent land, which was signed off the chain.',
)

/** Named schemas of openapi.json. */
export const OFFER_SHAPES = { Offers: offers, RentalOffer: rentalOffer, RentalPeriod: rentalPeriod } as const

export const offersSchema = shapeRef('Offers')
export const rentalOfferSchema = shapeRef('RentalOffer')
