import { createHash } from 'node:crypto'
import { parseCoord } from '@landpass/client/grid'
import { estateFingerprint } from '../../../src/land/events/fingerprints.ts'
import type { LandFact } from '../../../src/land/events/land-event.ts'
import { findAsset } from '../../../src/land/records/assets.ts'
import {
  ALICE,
  BIDS,
  BOB,
  CAROL,
  ESTATE_REGISTRY,
  FAR_S,
  join,
  LEGACY_MARKETPLACE,
  leave,
  list,
  MARKETPLACE,
  RENTALS,
  transfer,
} from './land-story.ts'

export const PEOPLE = [ALICE, BOB, CAROL] as const
export const MODEL_PARCELS = ['0,0', '0,1', '1,0', '-1,-1'] as const
export const MODEL_ESTATES = ['1', '2'] as const
const MARKETS = [MARKETPLACE, LEGACY_MARKETPLACE] as const
const DAY_MS = 86_400_000

/** What a person calls. Numbers choose among persons, assets and marketplaces. */
export interface Call {
  readonly does: (typeof CALLS)[number]
  readonly who: number
  readonly asset: number
  readonly other: number
  readonly isOdd: boolean
}

export const CALLS = [
  'mint',
  'transfer',
  'list',
  'list',
  'buy',
  'buy',
  'cancelListing',
  'bid',
  'bid',
  'acceptBid',
  'cancelBid',
  'addParcel',
  'addParcel',
  'removeParcel',
  'setOperator',
  'setUpdateOperator',
  'setApproval',
  'setManager',
  'rent',
  'claim',
] as const

interface Order {
  readonly id: string
  readonly seller: string
  readonly priceWei: bigint
}

interface PlacedBid {
  readonly id: string
  readonly bidder: string
  readonly priceWei: bigint
  readonly fingerprint: string
}

interface Rental {
  readonly lessor: string
  readonly tenant: string
  readonly endsMs: number
}

/**
 * The state of the contracts, as they keep it, and what they log. It knows no rows. A call that a contract would refuse
 * changes nothing and logs nothing. Assets are named by their id: only parcels have a comma in theirs.
 */
export class ContractModel {
  readonly ownerOf = new Map<string, string>()
  readonly approved = new Map<string, string>()
  readonly updateOperator = new Map<string, string>()
  readonly estateOf = new Map<string, string>()
  /** `kind registry owner operator`. */
  readonly rights = new Set<string>()
  /** By marketplace and asset. */
  readonly orders = new Map<string, Order>()
  /** By asset, then by bidder: accepting one removes all. */
  readonly bids = new Map<string, Map<string, PlacedBid>>()
  readonly rentals = new Map<string, Rental>()
  /** `marketplace asset seller buyer wei` of each sale, and how often each asset was listed. */
  readonly sales: string[] = []
  readonly listed = new Map<string, number>()

  membersOf(estateId: string): string[] {
    return MODEL_PARCELS.filter((parcel) => this.estateOf.get(parcel) === estateId)
  }

  fingerprintOf(estateId: string): string {
    return estateFingerprint(
      estateId,
      this.membersOf(estateId).map((parcel) => parseCoord(parcel)!),
    )
  }

  /** What the registry answers for an asset: operators of all land of its owner. */
  operatorsOf(kind: 'approval' | 'manager', assetId: string): string[] {
    const registry = findAsset(assetId, undefined).type
    return PEOPLE.filter((operator) =>
      this.rights.has(`${kind} ${registry} ${this.ownerOf.get(assetId)} ${operator}`),
    )
  }

  /** Whether the marketplace would sell it now. */
  isForSale(market: string, assetId: string): boolean {
    const order = this.orders.get(`${market} ${assetId}`)
    return order !== undefined && order.seller === this.ownerOf.get(assetId)
  }

  /** @returns what the contracts log */
  call(call: Call, timeMs: number): LandFact[] {
    const assets = [...MODEL_PARCELS, ...MODEL_ESTATES]
    const asset = assets[call.asset % assets.length]!
    const who = PEOPLE[call.who % PEOPLE.length]!
    const other = PEOPLE[call.other % PEOPLE.length]!
    const market = MARKETS[call.other % 2]!
    const isOwner = this.ownerOf.get(asset) === who
    const { type } = findAsset(asset, undefined)
    switch (call.does) {
      case 'mint':
        return this.mint(asset, who)
      case 'transfer':
        return isOwner ? this.move(asset, other) : []
      case 'list':
        if (!isOwner || (market === LEGACY_MARKETPLACE && type === 'estate')) return []
        return this.list(market, asset, who, timeMs, call.isOdd ? 1n : 2n)
      case 'buy':
        return this.buy(market, asset, who, timeMs, call.isOdd)
      case 'cancelListing':
        return this.cancel(market, asset, who)
      case 'bid':
        return this.bid(asset, who, timeMs, call.isOdd ? 1n : 2n)
      case 'acceptBid':
        return isOwner ? this.accept(asset, who, other) : []
      case 'cancelBid':
        return this.cancelBid(asset, who)
      case 'addParcel':
        return this.add(
          MODEL_PARCELS[call.asset % MODEL_PARCELS.length]!,
          MODEL_ESTATES[call.other % 2]!,
          call.isOdd,
        )
      case 'removeParcel':
        return this.leave(MODEL_PARCELS[call.asset % MODEL_PARCELS.length]!, who, other)
      case 'setOperator':
        if (!isOwner) return []
        this.set(this.approved, asset, call.isOdd ? other : null)
        return [
          { kind: 'operator-set', asset: findAsset(asset, undefined), operator: call.isOdd ? other : null },
        ]
      case 'setUpdateOperator':
        if (!isOwner) return []
        this.set(this.updateOperator, asset, call.isOdd ? other : null)
        return [
          {
            kind: 'update-operator-set',
            asset: findAsset(asset, undefined),
            operator: call.isOdd ? other : null,
          },
        ]
      case 'setApproval':
      case 'setManager':
        return this.setRight(call.does, type, { owner: who, operator: other, isApproved: call.isOdd })
      case 'rent':
        return this.rent(asset, who, other, timeMs)
      case 'claim':
        return this.claim(asset, who)
    }
  }

  private mint(asset: string, to: string): LandFact[] {
    if (this.ownerOf.has(asset)) return []
    const moved = this.move(asset, to)
    if (findAsset(asset, undefined).type === 'parcel') return moved
    return [...moved, { kind: 'estate-created', estateId: asset, owner: to, text: Buffer.from('0,,,') }]
  }

  /** A registry clears both operators. */
  private move(asset: string, to: string): LandFact[] {
    const from = this.ownerOf.get(asset) ?? null
    this.ownerOf.set(asset, to)
    this.approved.delete(asset)
    this.updateOperator.delete(asset)
    return [transfer(asset, from, to)]
  }

  private list(market: string, asset: string, seller: string, timeMs: number, mana: bigint): LandFact[] {
    const priceWei = mana * 10n ** 18n
    const id = idOf(timeMs, seller, asset, market === MARKETPLACE, priceWei)
    this.orders.set(`${market} ${asset}`, { id, seller, priceWei })
    this.listed.set(asset, (this.listed.get(asset) ?? 0) + 1)
    return [{ ...list(asset, seller, { marketplace: market }), contractId: id, priceWei }]
  }

  /** @param listsAgain whether the buyer is a contract that lists the asset while it receives it */
  private buy(market: string, asset: string, buyer: string, timeMs: number, listsAgain: boolean): LandFact[] {
    const name = `${market} ${asset}`
    const order = this.orders.get(name)
    if (!order || !this.isForSale(market, asset) || order.seller === buyer) return []
    if (market === MARKETPLACE) this.orders.delete(name)
    const logs = this.move(asset, buyer)
    if (listsAgain) logs.push(...this.list(market, asset, buyer, timeMs, 3n))
    // The legacy marketplace reads the id here, and removes what it stores now.
    const id = market === MARKETPLACE ? order.id : this.orders.get(name)!.id
    if (market === LEGACY_MARKETPLACE) this.orders.delete(name)
    const { seller, priceWei } = order
    this.sales.push(`${market} ${asset} ${seller} ${buyer} ${priceWei}`)
    const named = { asset: findAsset(asset, undefined), marketplace: market, contractId: id }
    return [...logs, { kind: 'listing-sold', ...named, seller, buyer, priceWei }]
  }

  private cancel(market: string, asset: string, who: string): LandFact[] {
    const order = this.orders.get(`${market} ${asset}`)
    if (order?.seller !== who) return []
    this.orders.delete(`${market} ${asset}`)
    const named = { asset: findAsset(asset, undefined), marketplace: market, contractId: order.id }
    return [{ kind: 'listing-cancelled', ...named }]
  }

  private bid(assetId: string, bidder: string, timeMs: number, mana: bigint): LandFact[] {
    const asset = findAsset(assetId, undefined)
    const owner = this.ownerOf.get(assetId)
    if (owner === undefined || owner === bidder) return []
    const fingerprint = asset.type === 'estate' ? this.fingerprintOf(assetId) : '0x'
    const priceWei = mana * 10n ** 18n
    const bidId = idOf(timeMs, bidder, assetId, priceWei, fingerprint)
    const bids = this.bids.get(assetId) ?? new Map<string, PlacedBid>()
    this.bids.set(assetId, bids.set(bidder, { id: bidId, bidder, priceWei, fingerprint }))
    const token = { tokenAddress: ESTATE_REGISTRY, tokenId: '1', expiresAtS: FAR_S }
    return [{ kind: 'bid-placed', asset, contract: BIDS, bidId, bidder, ...token, priceWei, fingerprint }]
  }

  private accept(assetId: string, seller: string, bidder: string): LandFact[] {
    const bid = this.bids.get(assetId)?.get(bidder)
    if (!bid || seller === bidder || !this.isForSameParcels(assetId, bid)) return []
    this.bids.delete(assetId)
    const asset = findAsset(assetId, undefined)
    const { id: bidId, priceWei } = bid
    return [
      ...this.move(assetId, BIDS),
      ...this.move(assetId, bidder),
      { kind: 'bid-accepted', asset, contract: BIDS, bidId, bidder, seller, priceWei },
    ]
  }

  /** Only estates are verified. */
  isForSameParcels(assetId: string, { fingerprint }: PlacedBid): boolean {
    return findAsset(assetId, undefined).type === 'parcel' || fingerprint === this.fingerprintOf(assetId)
  }

  private cancelBid(assetId: string, bidder: string): LandFact[] {
    const bid = this.bids.get(assetId)?.get(bidder)
    if (!bid) return []
    this.bids.get(assetId)!.delete(bidder)
    return [
      { kind: 'bid-cancelled', asset: findAsset(assetId, undefined), contract: BIDS, bidId: bid.id, bidder },
    ]
  }

  /** @param isOld whether the joining is logged before the transfer, as until 2019 */
  private add(parcel: string, estateId: string, isOld: boolean): LandFact[] {
    const owner = this.ownerOf.get(parcel)
    if (!isPerson(owner) || owner !== this.ownerOf.get(estateId)) return []
    const moved = this.move(parcel, ESTATE_REGISTRY)
    this.estateOf.set(parcel, estateId)
    return isOld ? [join(estateId, parcel), ...moved] : [...moved, join(estateId, parcel)]
  }

  private leave(parcel: string, who: string, to: string): LandFact[] {
    const estateId = this.estateOf.get(parcel)
    if (estateId === undefined || this.ownerOf.get(estateId) !== who) return []
    this.estateOf.delete(parcel)
    return [...this.move(parcel, to), leave(estateId, parcel)]
  }

  private setRight(
    does: 'setApproval' | 'setManager',
    registry: 'parcel' | 'estate',
    right: { readonly owner: string; readonly operator: string; readonly isApproved: boolean },
  ): LandFact[] {
    const kind = does === 'setApproval' ? 'approval' : 'manager'
    const name = `${kind} ${registry} ${right.owner} ${right.operator}`
    if (right.isApproved) this.rights.add(name)
    else this.rights.delete(name)
    return [{ kind: kind === 'approval' ? 'approval-for-all-set' : 'update-manager-set', registry, ...right }]
  }

  /** The lessor rents it out; while it is rented to the same tenant, the rent is extended. */
  private rent(assetId: string, lessor: string, tenant: string, timeMs: number): LandFact[] {
    const running = this.rentals.get(assetId)
    const isExtension = running?.lessor === lessor && running.tenant === tenant && timeMs <= running.endsMs
    const isFree = running === undefined || (running.lessor === lessor && timeMs > running.endsMs)
    if (!isExtension && (!isFree || (!running && this.ownerOf.get(assetId) !== lessor))) return []
    const moved = running ? [] : this.move(assetId, RENTALS)
    this.rentals.set(assetId, { lessor, tenant, endsMs: (isExtension ? running.endsMs : timeMs) + DAY_MS })
    const asset = findAsset(assetId, undefined)
    this.updateOperator.set(assetId, tenant)
    return [
      ...moved,
      { kind: 'update-operator-set', asset, operator: tenant },
      { kind: 'asset-rented', asset, lessor, tenant, days: 1, isExtension },
    ]
  }

  /** The contract would refuse it while the rent runs: here it does not, so that short stories have it. */
  private claim(assetId: string, who: string): LandFact[] {
    if (this.rentals.get(assetId)?.lessor !== who) return []
    this.rentals.delete(assetId)
    return [...this.move(assetId, who), { kind: 'rent-ended', asset: findAsset(assetId, undefined) }]
  }

  private set(map: Map<string, string>, name: string, value: string | null): void {
    if (value === null) map.delete(name)
    else map.set(name, value)
  }
}

function isPerson(address: string | undefined): boolean {
  return PEOPLE.some((person) => person === address)
}

/** Contracts hash the time of the block with what was sent: equal calls of one block have one id. */
function idOf(...parts: readonly (string | number | bigint | boolean)[]): string {
  return `0x${createHash('sha256').update(parts.join(' ')).digest('hex')}`
}
