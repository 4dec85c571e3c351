import * as is from './checks.ts'
import { choice } from './fields.ts'

/** The states of a publication or a bid. */
export const STATUSES = ['open', 'cancelled', 'sold'] as const
export type ListingStatus = (typeof STATUSES)[number]

export const listingStatus = () => choice<ListingStatus>(is.oneOf('open', 'sold', 'cancelled'), STATUSES)
