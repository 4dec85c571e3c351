import { followedChain } from '../live/chain.ts'
import { text } from '../texts/texts.ts'

/** Says that offers which are signed off the chain are missing, where the land comes from a chain and they are not read. */
export function ChainOffersHint() {
  const isIncomplete = followedChain.value && !followedChain.value.status.listings.shown
  return isIncomplete ? <p class="hint">{text('chain.offers_incomplete')}</p> : null
}
