import * as is from './checks.ts'
import { choice } from './fields.ts'

/** What becomes of an offer to sell or to buy. */
export const STATUSES = ['open', 'cancelled', 'sold'] as const
export type ListingStatus = (typeof STATUSES)[number]

export const listingStatus = () => choice<ListingStatus>(is.oneOf('open', 'sold', 'cancelled'), STATUSES)
