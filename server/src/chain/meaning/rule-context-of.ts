import type { RuleContext } from '../../land/events/rule-context.ts'
import type { Network } from '../chain-types.ts'

/**
 * The contracts of a network that the rules of the land must know.
 *
 * @example
 * ruleContextOf(MAINNET).contracts.bids // '0xe479dfd9664c693b2e2992300930b00bfde08233'
 */
export function ruleContextOf({ contracts }: Pick<Network, 'contracts'>): RuleContext {
  return {
    contracts: {
      estateRegistry: contracts.EstateRegistry?.address ?? null,
      legacyMarketplace: contracts.LegacyMarketplace?.address ?? null,
      bids: contracts.ERC721Bid?.address ?? null,
      rentals: contracts.Rentals?.address ?? null,
    },
  }
}
