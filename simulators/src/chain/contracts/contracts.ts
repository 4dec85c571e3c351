import { type Address, addressOfText } from '../encoding/words.ts'
import { BidContract } from './bids.ts'
import type { Eras } from './eras.ts'
import { EstateRegistry } from './estate-registry.ts'
import { LandAuction } from './land-auction.ts'
import { LandRegistry } from './land-registry.ts'
import type { Contract, Machine } from './machine.ts'
import { LegacyMarketplace, Marketplace } from './marketplaces.ts'
import { LoanEngine, MortgageHelper, MortgageManager } from './mortgages.ts'
import { Rentals } from './rentals.ts'
import { Currency, ForeignToken } from './tokens.ts'
import { OffChainMarketplace } from './trades.ts'

/** Who owns the contracts: sells parcels, gets the fees. */
export const PROJECT: Address = addressOfText('landpass simulated chain: the project')

const LEGACY_CUT_PER_MILLION = 20_000n
const CUT_PER_MILLION = 25_000n

/** Addresses by the role of the contract; roles that are missing get an address that is made up, always the same one. */
export type ContractAddresses = Readonly<Partial<Record<string, Address>>>

/** All contracts of the chain. */
export class Contracts {
  readonly currency: Currency
  readonly land: LandRegistry
  readonly estates: EstateRegistry
  readonly legacyMarket: LegacyMarketplace
  readonly market: Marketplace
  readonly bids: BidContract
  readonly auction: LandAuction
  readonly engine: LoanEngine
  readonly mortgages: MortgageManager
  readonly mortgageHelper: MortgageHelper
  readonly trades: readonly [OffChainMarketplace, OffChainMarketplace, OffChainMarketplace]
  readonly rentals: Rentals
  readonly foreign: ForeignToken

  constructor(machine: Machine, addresses: ContractAddresses = {}) {
    const owner = PROJECT
    const addressOfRole = (role: string) => addresses[role] ?? madeUpAddress(role)
    const currency = new Currency(machine, addressOfRole('MANAToken'))
    const land = new LandRegistry(machine, addressOfRole('LANDRegistry'))
    this.currency = currency
    this.land = land
    this.estates = new EstateRegistry(machine, addressOfRole('EstateRegistry'), land)
    land.setEstateRegistry(this.estates)
    this.legacyMarket = new LegacyMarketplace(machine, addressOfRole('LegacyMarketplace'), {
      ...{ currency, owner, cutPerMillion: LEGACY_CUT_PER_MILLION },
    })
    this.market = new Marketplace(machine, addressOfRole('Marketplace'), {
      ...{ currency, owner, cutPerMillion: CUT_PER_MILLION },
    })
    this.bids = new BidContract(machine, addressOfRole('ERC721Bid'), { currency, owner })
    this.auction = new LandAuction(machine, addressOfRole('LANDAuction'), { land, currency })
    this.engine = new LoanEngine(machine, addressOfRole('RCNEngine'), currency)
    this.mortgages = new MortgageManager(machine, addressOfRole('MortgageManager'), {
      ...{ engine: this.engine, market: this.market, land, currency },
    })
    this.mortgageHelper = new MortgageHelper(machine, addressOfRole('MortgageHelper'), this.mortgages)
    const [first, second, third] = machine.eras.trades
    this.trades = [
      new OffChainMarketplace(machine, addressOfRole('OffChainMarketplace'), {
        ...{ version: 1, owner, firstBlock: first },
      }),
      new OffChainMarketplace(machine, addressOfRole('OffChainMarketplaceV2'), {
        ...{ version: 2, owner, firstBlock: second },
      }),
      new OffChainMarketplace(machine, addressOfRole('OffChainMarketplaceV3'), {
        ...{ version: 3, owner, firstBlock: third },
      }),
    ]
    this.rentals = new Rentals(machine, addressOfRole('Rentals'), { currency, owner })
    this.foreign = new ForeignToken(machine, addressOfRole('a contract that is no land'))
  }

  byAddress(): ReadonlyMap<Address, Contract> {
    const all = Object.values(this).flat() as readonly Contract[]
    return new Map(all.map((contract) => [contract.address, contract]))
  }
}

function madeUpAddress(role: string): Address {
  return addressOfText(`landpass simulated chain: ${role}`)
}

/** The file of this network, as the setting `CHAIN_NETWORK` reads it. */
export interface NetworkFile {
  readonly chainId: number
  readonly landApprovalForAllArgumentOrderChangesAtBlock: number
  readonly contracts: Readonly<Record<string, { readonly address: Address; readonly startBlock: number }>>
}

/**
 * Describes the chain for a follower: the contracts by role, and the block from which each may have logs.
 *
 * @param first the oldest block that a node of the chain has
 */
export function networkFile(
  chainId: number,
  { eras, contracts, first }: { readonly eras: Eras; readonly contracts: Contracts; readonly first: number },
): NetworkFile {
  const entry = ({ address }: { readonly address: Address }, startBlock: number) => ({
    address,
    startBlock: Math.max(first, startBlock),
  })
  return {
    chainId,
    landApprovalForAllArgumentOrderChangesAtBlock: eras.argumentOrderChanges,
    contracts: {
      LANDRegistry: entry(contracts.land, 1),
      EstateRegistry: entry(contracts.estates, eras.estates),
      Marketplace: entry(contracts.market, eras.marketplace),
      LegacyMarketplace: entry(contracts.legacyMarket, eras.legacyMarketplace),
      ERC721Bid: entry(contracts.bids, eras.bids),
      LANDAuction: entry(contracts.auction, eras.auction),
      MortgageManager: entry(contracts.mortgages, eras.mortgages),
      MortgageHelper: entry(contracts.mortgageHelper, eras.mortgages),
      RCNEngine: entry(contracts.engine, eras.mortgages),
      MANAToken: entry(contracts.currency, 1),
      OffChainMarketplace: entry(contracts.trades[0], eras.trades[0]),
      OffChainMarketplaceV2: entry(contracts.trades[1], eras.trades[1]),
      OffChainMarketplaceV3: entry(contracts.trades[2], eras.trades[2]),
      Rentals: entry(contracts.rentals, eras.rentals),
    },
  }
}
