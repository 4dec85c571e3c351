import { decodeTokenId, encodeTokenId } from '@landpass/client/grid'
import type { Random } from '../../random.ts'
import type { Bid } from '../contracts/bids.ts'
import type { Cells } from '../contracts/cells.ts'
import type { Contracts } from '../contracts/contracts.ts'
import type { Contract, Machine } from '../contracts/machine.ts'
import type { LegacyMarketplace, Marketplace, Order } from '../contracts/marketplaces.ts'
import { LandToken, type TokenContract } from '../contracts/tokens.ts'
import { type Draft, draftOf } from '../contracts/transactions.ts'
import { type Address, MAX_UINT256, numberWord, type Word } from '../encoding/words.ts'
import type { SignedOffer, SignedOffers } from './signed-offers.ts'

/** What one player does next: some transactions; undefined if it is not possible now. */
export type Action = (scene: Scene) => readonly Draft[] | undefined

export type Market = Marketplace | LegacyMarketplace

/** A token of a contract. */
export interface Asset<T extends TokenContract = TokenContract> {
  readonly token: T
  readonly id: Word
}

/** A token of a player. */
export interface Owned<T extends TokenContract = TokenContract> extends Asset<T> {
  readonly owner: Address
}

/** A parcel or an estate of a player. */
export type Land = Owned<LandToken>

/** An asset, and what a contract has stored for it. */
export interface Stored<V> extends Asset {
  readonly value: V
}

export interface People {
  readonly players: readonly Address[]
  readonly isPlayer: ReadonlySet<Address>
  /** Parcels with a mortgage that runs, and that the borrower has: nothing is done with them. */
  readonly mortgaged: ReadonlySet<Word>
}

const TRIES = 60
const FEW_TRIES = 6
const MANA = 10n ** 18n
const DAY_S = 86_400
/** A price above this is a mistake of its seller. */
const HIGHEST_PRICE_WEI = 10_000_000n * MANA
const USUAL_PRICE_WEI = 5_000n * MANA
const SIDES = [
  { x: 1, y: 0 },
  { x: -1, y: 0 },
  { x: 0, y: 1 },
  { x: 0, y: -1 },
]

/** What players see of the chain, and the choices that they make. */
export class Scene {
  readonly contracts: Contracts
  readonly machine: Machine
  readonly random: Random
  private readonly people: People
  private readonly hasRareThings: boolean
  private readonly offers: SignedOffers | undefined

  constructor(parts: {
    contracts: Contracts
    machine: Machine
    people: People
    random: Random
    /** Whether players also do what is allowed and rare: odd texts and amounts, transactions that fail, tokens that are no land. */
    hasRareThings: boolean
    /** Undefined where players sign none off the chain. */
    offers: SignedOffers | undefined
  }) {
    this.contracts = parts.contracts
    this.machine = parts.machine
    this.people = parts.people
    this.random = parts.random
    this.hasRareThings = parts.hasRareThings
    this.offers = parts.offers
  }

  get timeS(): number {
    return this.machine.timeS
  }

  /** Whether something rare happens: in `percent` of a hundred cases, or never. */
  rarely(percent: number): boolean {
    return this.hasRareThings && this.random.chance(percent)
  }

  player(): Address {
    return this.random.pick(this.people.players)
  }

  /** Another player than this one. */
  other(than: Address): Address {
    const { players } = this.people
    const player = this.player()
    return player === than ? players[(players.indexOf(player) + 1) % players.length]! : player
  }

  /** The token, if a player has it who may do with it as they like. */
  owned<T extends TokenContract>({ token, id }: Asset<T>): Owned<T> | undefined {
    const owner = token.ownerOf(id)
    const { isPlayer, mortgaged } = this.people
    if (!isPlayer.has(owner) || (mortgaged.has(id) && this.isParcel({ token, id }))) return undefined
    return { token, id, owner }
  }

  /** A parcel of a player that meets the condition. */
  parcel(condition?: (land: Land) => boolean): Land | undefined {
    return this.ownedOf(this.contracts.land, condition)
  }

  estate(condition?: (land: Land) => boolean): Land | undefined {
    return this.ownedOf(this.contracts.estates, condition)
  }

  /** A parcel or, less often, an estate. */
  asset(condition?: (land: Land) => boolean): Land | undefined {
    const estate = this.random.chance(20) ? this.estate(condition) : undefined
    return estate ?? this.parcel(condition)
  }

  ownedOf<T extends TokenContract>(
    token: T & { readonly owners: Cells<Address> },
    condition: (owned: Owned<T>) => boolean = () => true,
  ): Owned<T> | undefined {
    return this.find(token.owners.keys, (id) => {
      const owned = this.owned({ token, id })
      return owned && condition(owned) ? owned : undefined
    })
  }

  /** An asset for which something is stored that meets the condition. */
  stored<V>(cells: Cells<V>, condition: (stored: Stored<V>) => boolean): Stored<V> | undefined {
    return this.find(cells.keys, (key) => {
      const value = cells.get(key)
      const found = value === undefined ? undefined : { ...this.assetOf(key), value }
      return found && condition(found) ? found : undefined
    })
  }

  /** The first pick that `find` makes something of; undefined if some picks do not do. */
  find<T, R>(list: readonly T[], find: (one: T) => R | undefined, tries = TRIES): R | undefined {
    for (let i = 0; list.length > 0 && i < tries; i++) {
      const found = find(this.random.pick(list))
      if (found !== undefined) return found
    }
    return undefined
  }

  isParcel({ token }: Asset): boolean {
    return token === this.contracts.land
  }

  /** The marketplace for new listings of a token, where there is one already: the old one knows parcels only. */
  marketFor(asset: Asset): Market | undefined {
    const { eras } = this.machine
    const { market, legacyMarket } = this.contracts
    const isOpen = this.machine.isSince(eras.marketplace)
    const mayBeOld = this.isParcel(asset) && this.machine.isSince(eras.legacyMarketplace)
    if (mayBeOld && (!isOpen || this.rarely(15))) return legacyMarket
    return isOpen ? market : undefined
  }

  /** Some marketplace with orders. */
  someMarket(): Market {
    const { market, legacyMarket } = this.contracts
    return legacyMarket.orders.keys.length > 0 && this.random.chance(15) ? legacyMarket : market
  }

  /** The order of an asset that its owner has put up and that can be executed now. */
  orderOf({ token, id, owner }: Owned): { readonly market: Market; readonly order: Order } | undefined {
    for (const market of [this.contracts.market, this.contracts.legacyMarket]) {
      const order = market.order(token.address, id)
      const isGood = order && order.seller === owner && order.expiresAt > BigInt(this.timeS)
      if (isGood && (order.priceWei < HIGHEST_PRICE_WEI || this.hasRareThings)) return { market, order }
    }
    return undefined
  }

  /** Some asset with an order that can be executed. */
  listed(): Owned | undefined {
    return this.ownedWith(this.someMarket().orders, (owned) => this.orderOf(owned) !== undefined)
  }

  /** An offer that was signed off the chain and can be accepted now: of this asset, or of any. */
  signedOffer(of?: Asset): (SignedOffer & { readonly offers: SignedOffers }) | undefined {
    const { offers, timeS } = this
    const open = offers
      ?.openAt(timeS)
      .filter((offer) => this.owned(offer) && (!of || (offer.token === of.token && offer.id === of.id)))
    return offers && open && open.length > 0 ? { ...this.random.pick(open), offers } : undefined
  }

  /** The bids on an asset that its owner can accept now; rarely one that has expired, or for other parcels. */
  bidsOn({ token, id, owner }: Owned): readonly Bid[] {
    return this.contracts.bids.bidsOf(token.address, id).filter(({ bidder, expiresAtS, fingerprint }) => {
      const fits = token.verifyFingerprint?.(id, fingerprint) ?? true
      const isGood = fits && expiresAtS >= BigInt(this.timeS)
      return bidder !== owner && (isGood || this.rarely(5))
    })
  }

  /** The lowest price at which an asset can be bought now, in wei of MANA; undefined where it is not for sale. */
  askedFor(asset: Owned): bigint | undefined {
    const order = this.orderOf(asset)?.order.priceWei
    const signed = this.offers?.priceOf(asset, this.timeS)
    return order === undefined || (signed !== undefined && signed < order) ? signed : order
  }

  /** What an owner asks for an asset: more than is bid for it. Only where rare things happen, owners overlook bids. */
  askingPrice({ token, id }: Asset, parcels: number): bigint {
    const price = this.price(parcels)
    const highest = this.hasRareThings ? 0n : this.contracts.bids.highest(token.address, id)
    return price > highest ? price : rounded((highest * 5n) / 4n)
  }

  /** Some asset with a bid that its owner can accept. */
  withBid(): Owned | undefined {
    return this.ownedWith(this.contracts.bids.bids, (owned) => this.bidsOn(owned).length > 0)
  }

  /** Parcels of the same owner that are connected with the first one, and of no other owner, the nearest first. */
  connected(first: Owned, most: number): readonly Word[] {
    const found = [first.id]
    for (let at = 0; at < found.length && found.length < most; at++)
      for (const id of neighboursOf(found[at]!))
        if (found.length < most && !found.includes(id) && this.isParcelOf(id, first.owner)) found.push(id)
    return found
  }

  /** A parcel beside the estate that belongs to the same owner. */
  besideEstate(estate: Asset & { readonly owner: Address }): Word | undefined {
    return this.find(
      this.contracts.estates.parcelsOf(estate.id),
      (parcel) => neighboursOf(parcel).find((id) => this.isParcelOf(id, estate.owner)),
      FEW_TRIES,
    )
  }

  /** Lets a contract move a token, if it may not yet: owners do this before they trade. */
  approval({ token, id, owner }: Owned, { address }: Contract): readonly Draft[] {
    if (token.mayTransfer(address, id)) return []
    const isForOne = token instanceof LandToken && !this.rarely(50)
    return isForOne
      ? [draftOf(owner, token, 'approve', owner, address, id)]
      : [draftOf(owner, token, 'setApprovalForAll', owner, address, true)]
  }

  /** Mostly with two digits that count; rarely with 18 decimals, or a number that nothing but 256 bits can hold. */
  price(parcels = 1): bigint {
    const { random } = this
    if (this.rarely(1)) return BigInt(random.hex(2 * random.between(16, 31))) + 1n
    const one = (USUAL_PRICE_WEI * BigInt(random.between(20, 300))) / 100n
    const wei = rounded(one * BigInt(Math.max(1, parcels)))
    return this.rarely(20) ? wei + BigInt(random.hex(14)) : wei
  }

  /** In seconds; rarely soon, in milliseconds, as the web application sent it, or a number beyond every date. */
  expiry(): bigint {
    const { random, timeS } = this
    if (this.rarely(3)) return random.chance(50) ? MAX_UINT256 : 2n ** 64n
    const isSoon = this.rarely(20)
    const midnightS = timeS - (timeS % DAY_S)
    const atS = BigInt(
      isSoon ? timeS + random.between(120, 7_200) : midnightS + random.between(2, 180) * DAY_S,
    )
    return this.rarely(65) ? atS * 1_000n : atS
  }

  private ownedWith<V>(cells: Cells<V>, condition: (owned: Owned) => boolean): Owned | undefined {
    return this.find(cells.keys, (key) => {
      const owned = this.owned(this.assetOf(key))
      return owned && condition(owned) ? owned : undefined
    })
  }

  /** The asset that a key of orders, bids or rentals is about. */
  private assetOf(key: string): Asset {
    const { land, estates, foreign } = this.contracts
    const [address, id] = key.split(' ') as [Address, Word]
    const token = address === land.address ? land : address === estates.address ? estates : foreign
    return { token, id }
  }

  private isParcelOf(id: Word, owner: Address): boolean {
    return this.contracts.land.ownerOf(id) === owner && !this.people.mortgaged.has(id)
  }
}

/** Two digits, then zeros; at least 1 MANA. */
export function rounded(wei: bigint): bigint {
  const step = 10n ** BigInt(Math.max(0, String(wei).length - 2))
  const whole = (wei / step) * step
  return whole < MANA ? MANA : whole
}

function neighboursOf(id: Word): readonly Word[] {
  const at = decodeTokenId(BigInt(id))
  return at ? SIDES.map(({ x, y }) => numberWord(encodeTokenId({ x: at.x + x, y: at.y + y }))) : []
}
