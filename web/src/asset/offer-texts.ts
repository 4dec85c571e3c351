import { text } from '../texts/texts.ts'
import type { OfferState } from './offer-state.ts'

/** What became of an offer for sale. */
export function offerStateText(state: OfferState): string {
  return state === 'expired' ? text('publication.expired') : text(`publication.status.${state}`)
}

/** What became of an offer to buy. */
export function bidStateText(state: OfferState): string {
  return state === 'expired' ? text('bid.expired') : text(`bid.status.${state}`)
}
