import Type from 'typebox'
import { manaText } from '../../land/events/amounts.ts'
import type { RentalPeriod } from '../../land/records/unlisted-offer.ts'
import { closedObject, manaText as manaSchema, wholeNumber } from '../../schema-parts.ts'
import { shapeRef } from './schemas.ts'

/** A named schema of openapi.json. */
export const rentalPeriod = closedObject(
  {
    min_days: wholeNumber(),
    max_days: wholeNumber(),
    price_per_day: manaSchema('For a day.'),
  },
  'For how long it can be rented, and for how much.',
)

export const rentalPeriodsSchema = Type.Array(shapeRef('RentalPeriod'))

export function rentalPeriodsJson(periods: readonly RentalPeriod[]) {
  return periods.map(({ minDays, maxDays, pricePerDay }) => ({
    ...{ min_days: minDays, max_days: maxDays, price_per_day: manaText(BigInt(pricePerDay)) },
  }))
}
