import { followedChain } from '../live/chain.ts'
import { text } from '../texts/texts.ts'

/** Says that offers which are signed off the chain may be missing, where the land comes from a chain and they are not read now. */
export function ChainOffersHint() {
  const listings = followedChain.value?.status.listings
  const isIncomplete = listings && !(listings.shown && ['reading', 'following'].includes(listings.state))
  return isIncomplete ? <p class="hint">{text('chain.offers_incomplete')}</p> : null
}
