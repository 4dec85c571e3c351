import { decodeTokenId, encodeTokenId } from '@landpass/client/grid'
import type { Dice } from '../actors/dice.ts'
import type { Bid } from '../contracts/bids.ts'
import type { MarketName, NamedAsset, Registry } from '../contracts/calls.ts'
import type { Contracts } from '../contracts/contracts.ts'
import type { Machine } from '../contracts/machine.ts'
import { assetKey, type Order } from '../contracts/marketplaces.ts'
import type { LandToken } from '../contracts/tokens.ts'
import { type Address, numberWord, type Word } from '../encoding/words.ts'

/** An asset of a player. */
export interface Owned extends NamedAsset {
  readonly token: LandToken
  readonly owner: Address
}

/** An order that can be executed. */
export interface GoodOrder {
  readonly market: MarketName
  readonly order: Order
}

const TRIES = 60
const MANA = 10n ** 18n
/** A price above this is a mistake of its seller: it is no measure of others. */
const HIGHEST_PRICE_WEI = 10_000_000n * MANA
const USUAL_PRICE_WEI = 5_000n * MANA
const SIDES = [
  { x: 1, y: 0 },
  { x: -1, y: 0 },
  { x: 0, y: 1 },
  { x: 0, y: -1 },
]

/** What players of the market see of the chain, and the choices that they make. */
export class MarketScene {
  readonly contracts: Contracts
  readonly dice: Dice
  private readonly machine: Machine
  private readonly players: readonly Address[]
  private readonly isPlayer: ReadonlySet<Address>
  private readonly mortgaged: ReadonlySet<Word>

  constructor(parts: {
    contracts: Contracts
    machine: Machine
    players: readonly Address[]
    isPlayer: ReadonlySet<Address>
    /** Parcels that a mortgage is on: the contract of mortgages has a say in what happens to them. */
    mortgaged: ReadonlySet<Word>
    dice: Dice
  }) {
    this.contracts = parts.contracts
    this.machine = parts.machine
    this.players = parts.players
    this.isPlayer = parts.isPlayer
    this.mortgaged = parts.mortgaged
    this.dice = parts.dice
  }

  get timeS(): number {
    return this.machine.timeS
  }

  other(than: Address): Address {
    const player = this.dice.pick(this.players)
    return player === than ? this.players[(this.players.indexOf(player) + 1) % this.players.length]! : player
  }

  token(registry: Registry): LandToken {
    return this.contracts[registry]
  }

  /** The asset, if a player owns it and may do with it as they like: not while it is in an estate, rented or mortgaged. */
  owned({ registry, id }: NamedAsset): Owned | undefined {
    const token = this.token(registry)
    const owner = token.ownerOf(id)
    if (!this.isPlayer.has(owner) || (registry === 'land' && this.mortgaged.has(id))) return undefined
    return { registry, id, token, owner }
  }

  /** Some asset of a player that meets the condition. */
  find(registry: Registry, condition: (owned: Owned) => boolean = () => true): Owned | undefined {
    return this.dice.find(
      this.token(registry).owners.keys,
      (id) => {
        const owned = this.owned({ registry, id })
        return owned && condition(owned) ? owned : undefined
      },
      TRIES,
    )
  }

  /** Some parcel, or now and then an estate. */
  findAny(condition?: (owned: Owned) => boolean): Owned | undefined {
    const estate = this.dice.chance(0.15) ? this.find('estates', condition) : undefined
    return estate ?? this.find('land', condition)
  }

  /** Some asset with an order that can be executed. */
  findListed(): Owned | undefined {
    const { market, legacyMarket } = this.contracts
    const keys = this.dice.chance(0.9) || legacyMarket.orders.keys.length === 0 ? market : legacyMarket
    return this.findByKey(keys.orders.keys, (owned) => this.orderOf(owned) !== undefined)
  }

  /** The order of an asset that its owner has put up and that can be executed now. */
  orderOf({ token, id, owner }: Owned): GoodOrder | undefined {
    for (const market of ['market', 'legacyMarket'] as const) {
      const order = this.contracts[market].order(token.address, id)
      const isGood = order && order.seller === owner && order.expiresAt > BigInt(this.timeS)
      if (isGood && order.priceWei < HIGHEST_PRICE_WEI) return { market, order }
    }
    return undefined
  }

  /** Of an estate; undefined for a parcel. */
  fingerprintOf({ registry, id }: NamedAsset): Word | undefined {
    return registry === 'estates' ? this.contracts.estates.fingerprint(id) : undefined
  }

  /** Some asset with a bid that its owner can accept. */
  findWithBid(): Owned | undefined {
    return this.findByKey(this.contracts.bids.bids.keys, (owned) => this.bidsOn(owned).length > 0)
  }

  /** The bids on an asset that its owner can accept now. */
  bidsOn(owned: Owned): readonly Bid[] {
    const { token, id, owner } = owned
    return this.contracts.bids.bidsOf(token.address, id).filter((bid) => {
      const fits =
        owned.registry !== 'estates' || this.contracts.estates.verifyFingerprint(id, bid.fingerprint)
      return fits && bid.bidder !== owner && bid.expiresAtS >= BigInt(this.timeS)
    })
  }

  /** Land that its lessor can take back. @param asset which; undefined: any */
  findEndedRent(asset?: NamedAsset): (NamedAsset & { readonly lessor: Address }) | undefined {
    const { rentals, land } = this.contracts
    return this.dice.find(
      asset ? [assetKey(this.token(asset.registry).address, asset.id)] : rentals.rentals.keys,
      (key) => {
        const rental = rentals.rentals.get(key)
        const [address, id] = key.split(' ') as [Address, Word]
        if (!rental || rental.endS >= this.timeS || !this.isPlayer.has(rental.lessor)) return undefined
        return { registry: address === land.address ? 'land' : 'estates', id, lessor: rental.lessor }
      },
      TRIES,
    )
  }

  /** The id that the next new estate gets. */
  nextEstate(): Word {
    return numberWord(this.contracts.estates.total() + 1)
  }

  /** Parcels of the same owner that are connected with the first one, and of no other owner, the nearest first. */
  connected(first: Owned, most: number): readonly Word[] {
    const found = [first.id]
    for (let at = 0; at < found.length && found.length < most; at++)
      for (const id of neighboursOf(found[at]!))
        if (found.length < most && !found.includes(id) && this.isFreeOf(id, first.owner)) found.push(id)
    return found
  }

  /** A parcel beside the estate that belongs to the same owner. */
  besideEstate(estate: Owned): Word | undefined {
    const parcels = this.contracts.estates.parcelsOf(estate.id)
    return this.dice.find(parcels, (parcel) =>
      neighboursOf(parcel).find((id) => this.isFreeOf(id, estate.owner)),
    )
  }

  /** A price of the market, with two digits that count. */
  price(parcels: number): bigint {
    const keys = this.contracts.market.orders.keys
    const found = this.dice.find(keys, (key) => {
      const order = this.contracts.market.orders.get(key)
      const isParcel = key.startsWith(this.contracts.land.address)
      return isParcel && order && order.priceWei < HIGHEST_PRICE_WEI ? order.priceWei : undefined
    })
    const one = ((found ?? USUAL_PRICE_WEI) * BigInt(this.dice.whole(60, 150))) / 100n
    return rounded(one * BigInt(Math.max(1, parcels)))
  }

  private isFreeOf(id: Word, owner: Address): boolean {
    return this.contracts.land.ownerOf(id) === owner && !this.mortgaged.has(id)
  }

  /** Some asset that an order or a bid is about. */
  private findByKey(keys: readonly string[], condition: (owned: Owned) => boolean): Owned | undefined {
    const { land, estates } = this.contracts
    return this.dice.find(
      keys,
      (key) => {
        const [address, id] = key.split(' ') as [Address, Word]
        if (address !== land.address && address !== estates.address) return undefined
        const owned = this.owned({ registry: address === land.address ? 'land' : 'estates', id })
        return owned && condition(owned) ? owned : undefined
      },
      TRIES,
    )
  }
}

/** Two digits, then zeros. */
export function rounded(wei: bigint): bigint {
  const step = 10n ** BigInt(Math.max(0, String(wei).length - 2))
  const whole = (wei / step) * step
  return whole < MANA ? MANA : whole
}

function neighboursOf(id: Word): readonly Word[] {
  const at = decodeTokenId(BigInt(id))
  return at ? SIDES.map(({ x, y }) => numberWord(encodeTokenId({ x: at.x + x, y: at.y + y }))) : []
}
