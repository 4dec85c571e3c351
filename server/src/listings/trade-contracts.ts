import type { ContractRole, Network } from '../chain/chain-types.ts'
import { registriesOf } from '../chain/networks/registries-of.ts'
import type { RentalContracts } from './rental-listing.ts'
import type { TradeContracts } from './verify-trade.ts'

/** By what each marketplace names a trade when it is used or cancelled. */
const KEY_OF_ROLE = {
  OffChainMarketplace: 'hash of the signature',
  OffChainMarketplaceV2: 'hash of the signature',
  OffChainMarketplaceV3: 'digest',
} as const satisfies Partial<Record<ContractRole, string>>
const ROLES = Object.keys(KEY_OF_ROLE) as readonly (keyof typeof KEY_OF_ROLE)[]

/**
 * The contracts that signed trades of a network are about; undefined where none settles them, or there is no MANA.
 *
 * @example
 * tradeContractsOf(MAINNET)?.marketplaces.length // 3
 */
export function tradeContractsOf(network: Network): TradeContracts | undefined {
  const { chainId, contracts } = network
  const marketplaces = ROLES.flatMap((role) => {
    const contract = contracts[role]
    return contract ? [{ address: contract.address, keyIs: KEY_OF_ROLE[role] }] : []
  })
  if (!contracts.MANAToken || marketplaces.length === 0) return undefined
  return { chainId, registries: registriesOf(network), mana: contracts.MANAToken.address, marketplaces }
}

/** The contracts that offers to rent are about; undefined where the network has none. */
export function rentalContractsOf(network: Network): RentalContracts | undefined {
  const { chainId, contracts } = network
  if (!contracts.Rentals) return undefined
  return { chainId, registries: registriesOf(network), rentals: contracts.Rentals.address }
}
