/** By which contracts mean nobody. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** A block of the chain. */
export interface BlockRef {
  readonly number: number
  /** 32 bytes in hex, lower case. */
  readonly hash: string
}

export interface BlockHeader extends BlockRef {
  readonly parentHash: string
  /** Seconds since 1970. */
  readonly timeS: number
}

/** A log as a node answers it, checked for its form: hex in lower case, numbers as numbers. */
export interface RawLog {
  readonly address: string
  readonly topics: readonly string[]
  /** Hex. */
  readonly data: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly txHash: string
  readonly txIndex: number
  readonly logIndex: number
  /** Seconds since 1970; undefined where the node does not say it. */
  readonly blockTimeS: number | undefined
}

/** The roles of contracts in the file of a network. */
export const CONTRACT_ROLES = [
  'LANDRegistry',
  'EstateRegistry',
  'Marketplace',
  'LegacyMarketplace',
  'ERC721Bid',
  'LANDAuction',
  'MortgageManager',
  'MortgageHelper',
  'RCNEngine',
  'MANAToken',
  'OffChainMarketplace',
  'OffChainMarketplaceV2',
  'OffChainMarketplaceV3',
  'Rentals',
] as const
export type ContractRole = (typeof CONTRACT_ROLES)[number]

export interface NetworkContract {
  /** Lower case. */
  readonly address: string
  readonly startBlock: number
}

/** A network, and the contracts that the land data come from. */
export interface Network {
  readonly name: string
  readonly chainId: number
  /** From the block after this one on, ApprovalForAll of LAND names the holder first. */
  readonly landApprovalForAllArgumentOrderChangesAtBlock: number
  readonly contracts: Partial<Record<ContractRole, NetworkContract>> & {
    readonly LANDRegistry: NetworkContract
  }
}
