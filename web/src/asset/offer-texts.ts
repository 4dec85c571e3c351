import type { Publication } from '@landpass/client'
import { text } from '../texts/texts.ts'
import type { HistoryState } from './history-rows.ts'
import type { OfferState } from './offer-state.ts'

/** What became of an offer for sale. */
export function offerStateText(state: HistoryState): string {
  if (state === 'refused') return text('publication.refused')
  return state === 'expired' ? text('publication.expired') : text(`publication.status.${state}`)
}

/** Why an offer cannot be accepted that is neither cancelled nor over. */
export function refusalText({ state }: Publication): string {
  switch (state) {
    case 'not_yet':
    case 'owner_changed':
    case 'estate_changed':
    case 'not_approved':
    case 'paused':
    case 'bad_signature':
    case 'unseen':
      return text(`publication.refused.${state}`)
    default:
      return ''
  }
}

/** What became of an offer to buy. */
export function bidStateText(state: OfferState): string {
  return state === 'expired' ? text('bid.expired') : text(`bid.status.${state}`)
}
