import { keccak256 } from '../../ethereum/keccak256.ts'
import { CONTRACT_ROLES, type ContractRole } from '../chain-types.ts'
import { EVENTS_OF_ROLE, LAYOUTS } from './layouts.ts'

/** By which a proxy says that it has other code from now on: that of LAND, and those of the other contracts. */
const UPGRADES = ['Upgrade(address,bytes)', 'Upgraded(address)']
const PROXY = ['AdminChanged(address,address)', 'Migrated(string,string)', 'Initialized(uint8)']
const OWNED = [
  'OwnershipTransferred(address,address)',
  'OwnershipRenounced(address)',
  'Pause()',
  'Unpause()',
  'Paused(address)',
  'Unpaused(address)',
  'PauserAdded(address)',
  'PauserRemoved(address)',
]
const TOKEN = [
  'Transfer(address,address,uint256)',
  'Approval(address,address,uint256)',
  'ApprovalForAll(address,address,bool)',
]
const OLD_OFFERS = (['AuctionCreated', 'AuctionSuccessful', 'AuctionCancelled'] as const).map(
  (event) => LAYOUTS[event].signature,
)
const OFF_CHAIN = [
  'OwnershipTransferred(address,address)',
  'FeeRateUpdated(address,uint256)',
  'FeeCollectorUpdated(address,address)',
  'EIP712DomainChanged()',
]

/** Events of each contract that are known to change nothing that is stored. */
const SILENT_EVENTS: { readonly [Role in ContractRole]: readonly string[] } = {
  LANDRegistry: [
    ...PROXY,
    ...OWNED,
    'EstateRegistrySet(address)',
    'DeployAuthorized(address,address)',
    'DeployForbidden(address,address)',
    'SetLandBalanceToken(address,address)',
    'OwnerUpdate(address,address)',
  ],
  EstateRegistry: [
    ...PROXY,
    ...OWNED,
    'SetLANDRegistry(address)',
    'SetEstateLandBalanceToken(address,address)',
  ],
  Marketplace: [
    ...PROXY,
    ...OWNED,
    ...OLD_OFFERS,
    'ChangedPublicationFee(uint256)',
    'ChangedOwnerCutPerMillion(uint256)',
    'ChangeLegacyNFTAddress(address)',
  ],
  LegacyMarketplace: [...OWNED, 'ChangedPublicationFee(uint256)', 'ChangedOwnerCut(uint256)'],
  ERC721Bid: [...OWNED, 'ChangedOwnerCutPerMillion(uint256)'],
  LANDAuction: [
    ...OWNED,
    'AuctionCreated(address,uint256,uint256,uint256,uint256)',
    'AuctionFinished(address,uint256,uint256)',
    'BidConversion(uint256,address,uint256,uint256,uint256)',
    'TokenBurned(uint256,address,uint256)',
    'TokenTransferred(uint256,address,address,uint256)',
    'LandsLimitPerBidChanged(address,uint256,uint256)',
    'GasPriceLimitChanged(address,uint256,uint256)',
    'DexChanged(address,address,address)',
    'TokenAllowed(address,address,uint256,bool,bool,address)',
    'TokenDisabled(address,address)',
    'ConversionFeeChanged(address,uint256,uint256)',
  ],
  MortgageManager: [
    ...TOKEN,
    'SetOwner(address)',
    'SetEngine(address,bool)',
    'SetCreator(address,bool)',
    'ReadedOracle(address,bytes32,uint256,uint256)',
    'UpdatedLandData(address,uint256,string)',
  ],
  MortgageHelper: [],
  RCNEngine: [
    ...TOKEN,
    'CreatedLoan(uint256,address,address)',
    'ApprovedBy(uint256,address)',
    'ReadedOracle(address,bytes32,uint256,uint256)',
  ],
  MANAToken: [],
  OffChainMarketplace: OFF_CHAIN,
  OffChainMarketplaceV2: OFF_CHAIN,
  OffChainMarketplaceV3: OFF_CHAIN,
  Rentals: [
    ...PROXY,
    ...OWNED,
    'TokenUpdated(address,address,address)',
    'FeeCollectorUpdated(address,address,address)',
    'FeeUpdated(uint256,uint256,address)',
  ],
}

const UPGRADE_TOPICS = topicsOf(UPGRADES)
const SILENT_TOPICS: ReadonlyMap<ContractRole, ReadonlySet<string>> = new Map(
  CONTRACT_ROLES.map((role) => [role, topicsOf(SILENT_EVENTS[role])]),
)

/** Whether an event of a contract is known to change nothing that is stored. A contract that is not read says nothing new. */
export function isSilent(role: ContractRole, topic0: string): boolean {
  return EVENTS_OF_ROLE[role].length === 0 || SILENT_TOPICS.get(role)!.has(topic0)
}

/** Whether a proxy says by it that it has other code from now on. */
export function isUpgrade(topic0: string): boolean {
  return UPGRADE_TOPICS.has(topic0)
}

function topicsOf(signatures: readonly string[]): ReadonlySet<string> {
  return new Set(signatures.map((text) => `0x${Buffer.from(keccak256(Buffer.from(text))).toString('hex')}`))
}
