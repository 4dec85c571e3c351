import { followedChain } from '../live/chain.ts'
import { text } from '../texts/texts.ts'

/** Says that offers which are signed off the chain are missing, where the land comes from a chain. */
export function ChainOffersHint() {
  return followedChain.value ? <p class="hint">{text('chain.offers_incomplete')}</p> : null
}
