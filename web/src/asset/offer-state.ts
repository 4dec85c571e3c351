import type { OfferStatus } from '@landpass/client'

/** State of an offer as shown: the interface calls it open even after its expiry. */
export type OfferState = OfferStatus | 'expired'

/** @param nowMs milliseconds since 1970, like the offer's expiry */
export function offerState(offer: Offer, nowMs: number): OfferState {
  return offer.status === 'open' && Number(offer.expires_at) <= nowMs ? 'expired' : offer.status
}

interface Offer {
  readonly status: OfferStatus
  /** Publications have a number, bids digits. */
  readonly expires_at: number | string
}
