import { parseCoord } from '@landpass/client/grid'
import { applyEvent } from '../../../src/land/events/apply-event.ts'
import type { LandEvent, LandFact } from '../../../src/land/events/land-event.ts'
import type {
  BidRow,
  EstateRow,
  MortgageRow,
  ParcelRow,
  PublicationRow,
} from '../../../src/land/events/land-rows.ts'
import { MemoryRows } from '../../../src/land/events/memory-rows.ts'
import type { Fact, RuleContext } from '../../../src/land/events/rule-context.ts'
import { type AssetName, findAsset } from '../../../src/land/records/assets.ts'

export const LAND_REGISTRY = address('land registry')
export const ESTATE_REGISTRY = address('estate registry')
export const MARKETPLACE = address('marketplace')
export const LEGACY_MARKETPLACE = address('legacy marketplace')
export const BIDS = address('bids')
export const RENTALS = address('rentals')
export const STORY_CONTEXT: RuleContext = {
  contracts: {
    estateRegistry: ESTATE_REGISTRY,
    legacyMarketplace: LEGACY_MARKETPLACE,
    bids: BIDS,
    rentals: RENTALS,
  },
}

export const MANA_WEI = 10n ** 18n
/** Time of the first block of a story, and the time between two blocks, in milliseconds. */
export const FIRST_BLOCK_MS = 1_550_000_000_000
export const BLOCK_MS = 15_000
/** A deadline in seconds that no story reaches. */
export const FAR_S = 1_900_000_000n

export const [ALICE, BOB, CAROL, DAVE] = ['alice', 'bob', 'carol', 'dave'].map(address) as [
  string,
  string,
  string,
  string,
]

/** An address that says whose it is: the hex of a name, then zeros. */
export function address(name: string): string {
  return `0x${Buffer.from(name).toString('hex').slice(0, 40).padEnd(40, '0')}`
}

/** A hash that says what it is of. */
export function hash(name: string): string {
  return `0x${Buffer.from(name).toString('hex').slice(0, 64).padEnd(64, '0')}`
}

/** A chain that a test writes, a transaction in each block, and the rows that follow from it. */
export class LandStory {
  readonly rows: MemoryRows
  readonly events: LandEvent[] = []
  private blocks = 0

  constructor(rows = new MemoryRows()) {
    this.rows = rows
  }

  /** Time of the newest block, in milliseconds. */
  get nowMs(): number {
    return FIRST_BLOCK_MS + this.blocks * BLOCK_MS
  }

  /** A block with one transaction, whose logs say these facts. */
  async transaction(...facts: readonly LandFact[]): Promise<void> {
    this.blocks++
    const blockNumber = 7_000_000 + this.blocks
    for (const [logIndex, fact] of facts.entries()) {
      const event: LandEvent = {
        at: { blockNumber, timeMs: this.nowMs, txHash: hash(`tx ${this.blocks}`), logIndex },
        ...fact,
      }
      this.events.push(event)
      await applyEvent(this.rows, event, STORY_CONTEXT)
    }
  }

  async parcel(id: string): Promise<ParcelRow> {
    const row = await this.rows.parcel(parseCoord(id)!)
    if (!row) throw new Error(`no parcel ${id}`)
    return row
  }

  async estate(id: string): Promise<EstateRow> {
    const row = await this.rows.estate(id)
    if (!row) throw new Error(`no estate ${id}`)
    return row
  }

  /** Oldest first. */
  async listings(assetId: string): Promise<readonly PublicationRow[]> {
    return this.rows.rowsOf('publication').filter((row) => isOf(row, findAsset(assetId, undefined)))
  }

  /** Status and the reason of each listing, oldest first: `sold (event)`. */
  async listingStates(assetId: string): Promise<string[]> {
    return (await this.listings(assetId)).map(stateOf)
  }

  async bids(assetId: string): Promise<readonly BidRow[]> {
    return this.rows.rowsOf('bid').filter((row) => isOf(row, findAsset(assetId, undefined)))
  }

  async bidStates(assetId: string): Promise<string[]> {
    return (await this.bids(assetId)).map(stateOf)
  }

  async mortgage(mortgageId: number): Promise<MortgageRow> {
    const row = await this.rows.mortgage({ mortgageId })
    if (!row) throw new Error(`no mortgage ${mortgageId}`)
    return row
  }

  /** Ids of the parcels of an estate, in the order in which they joined. */
  async members(estateId: string): Promise<string[]> {
    return (await this.rows.parcelsOfEstate(estateId)).map(({ x, y }) => `${x},${y}`)
  }
}

function isOf(
  row: { readonly asset_type: string; readonly asset_id: string },
  { type, id }: AssetName,
): boolean {
  return row.asset_type === type && row.asset_id === id
}

function stateOf({ status, closed_by }: { status: string; closed_by: string | null }): string {
  return closed_by === null ? status : `${status} (${closed_by})`
}

// What happens, in short words. Assets are named by their id: only parcels have a comma in theirs.

export function transfer(assetId: string, from: string | null, to: string | null): Fact<'asset-transferred'> {
  return { kind: 'asset-transferred', asset: findAsset(assetId, undefined), from, to }
}

export function describe(assetId: string, text: string | Uint8Array): Fact<'asset-described'> {
  return { kind: 'asset-described', asset: findAsset(assetId, undefined), text: Buffer.from(text) }
}

interface ListingWords {
  readonly id?: string
  readonly mana?: bigint
  readonly expiresAt?: bigint
  readonly marketplace?: string
}

export function list(assetId: string, seller: string, words: ListingWords = {}): Fact<'listing-opened'> {
  const { id = 'listing', mana = 100n, expiresAt = FAR_S, marketplace = MARKETPLACE } = words
  return {
    kind: 'listing-opened',
    asset: findAsset(assetId, undefined),
    marketplace,
    contractId: hash(id),
    seller,
    priceWei: mana * MANA_WEI,
    expiresAt,
  }
}

/** What a marketplace logs when it sells: the transfer, and the sale. */
export function sell(assetId: string, seller: string, buyer: string, words: ListingWords = {}): LandFact[] {
  return [transfer(assetId, seller, buyer), sold(assetId, seller, buyer, words)]
}

export function sold(
  assetId: string,
  seller: string,
  buyer: string,
  words: ListingWords = {},
): Fact<'listing-sold'> {
  const { id = 'listing', mana = 100n, marketplace = MARKETPLACE } = words
  return {
    kind: 'listing-sold',
    asset: findAsset(assetId, undefined),
    marketplace,
    contractId: hash(id),
    seller,
    buyer,
    priceWei: mana * MANA_WEI,
  }
}

export function cancel(
  assetId: string,
  { id = 'listing', marketplace = MARKETPLACE }: ListingWords = {},
): Fact<'listing-cancelled'> {
  return {
    kind: 'listing-cancelled',
    asset: findAsset(assetId, undefined),
    marketplace,
    contractId: hash(id),
  }
}

interface BidWords {
  readonly id?: string
  readonly mana?: bigint
  readonly fingerprint?: string
  readonly expiresAtS?: bigint
}

export function bid(assetId: string, bidder: string, words: BidWords = {}): Fact<'bid-placed'> {
  const { id = `bid of ${bidder}`, mana = 50n, fingerprint = '0x', expiresAtS = FAR_S } = words
  const asset = findAsset(assetId, undefined)
  return {
    kind: 'bid-placed',
    asset,
    contract: BIDS,
    bidId: hash(id),
    bidder,
    tokenAddress: asset.type === 'parcel' ? LAND_REGISTRY : ESTATE_REGISTRY,
    tokenId: '1',
    priceWei: mana * MANA_WEI,
    expiresAtS,
    fingerprint,
  }
}

/** What the contract of bids logs when a bid is accepted: the token passes through it. */
export function acceptBid(assetId: string, seller: string, bidder: string, words: BidWords = {}): LandFact[] {
  const { id = `bid of ${bidder}`, mana = 50n } = words
  const asset = findAsset(assetId, undefined)
  return [
    transfer(assetId, seller, BIDS),
    transfer(assetId, BIDS, bidder),
    {
      kind: 'bid-accepted',
      asset,
      contract: BIDS,
      bidId: hash(id),
      bidder,
      seller,
      priceWei: mana * MANA_WEI,
    },
  ]
}

export function cancelBid(
  assetId: string,
  bidder: string,
  { id = `bid of ${bidder}` }: BidWords = {},
): Fact<'bid-cancelled'> {
  const asset = findAsset(assetId, undefined)
  return { kind: 'bid-cancelled', asset, contract: BIDS, bidId: hash(id), bidder }
}

/** What is logged when an estate is made of parcels, since 2019: each transfer before the joining. */
export function createEstate(estateId: string, owner: string, parcelIds: readonly string[] = []): LandFact[] {
  return [
    transfer(estateId, null, owner),
    { kind: 'estate-created', estateId, owner, text: Buffer.from('0,Home,,') },
    ...parcelIds.flatMap((id) => [transfer(id, owner, ESTATE_REGISTRY), join(estateId, id)]),
  ]
}

export function join(estateId: string, parcelId: string): Fact<'parcel-joined-estate'> {
  return { kind: 'parcel-joined-estate', estateId, parcel: parseCoord(parcelId)! }
}

export function leave(estateId: string, parcelId: string): Fact<'parcel-left-estate'> {
  return { kind: 'parcel-left-estate', estateId, parcel: parseCoord(parcelId)! }
}
