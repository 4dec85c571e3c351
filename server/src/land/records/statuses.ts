import * as is from './checks.ts'
import { choice } from './fields.ts'

/** The states of a publication or a bid. */
export const STATUSES = ['open', 'cancelled', 'sold'] as const
export type ListingStatus = (typeof STATUSES)[number]

/** The states of an offer in detail: land/events/signed-offers.ts says what leads to each of them. */
export const OFFER_STATES = [
  'open',
  'used',
  'cancelled',
  'expired',
  'not_yet',
  'owner_changed',
  'estate_changed',
  'not_approved',
  'paused',
  'bad_signature',
  'unseen',
] as const
export type OfferState = (typeof OFFER_STATES)[number]

export const listingStatus = () => choice<ListingStatus>(is.oneOf('open', 'sold', 'cancelled'), STATUSES)
