import { decodeTokenId, encodeTokenId, parseCoord, type World } from '@landpass/client/grid'
import { Random } from '../../random.ts'
import { type Contracts, PROJECT } from '../contracts/contracts.ts'
import type { Machine, Outcome } from '../contracts/machine.ts'
import { MORTGAGE_STATUS } from '../contracts/mortgages.ts'
import type { LandToken } from '../contracts/tokens.ts'
import type { Draft, SentTransaction } from '../contracts/transactions.ts'
import { type Address, addressOfText, hashOfText, numberWord, type Word } from '../encoding/words.ts'
import { balanceOf, type Counts, countOf } from './balance.ts'
import { DEED_KINDS, DEEDS, type Deed, type DeedKind, planEndOfRent } from './deeds.ts'
import { LandSales } from './land-sales.ts'
import * as mortgage from './mortgage-actions.ts'
import * as rare from './rare-actions.ts'
import { type Action, type Asset, type People, Scene } from './scene.ts'
import { SignedOffers } from './signed-offers.ts'
import * as trade from './trade-actions.ts'

/** Runs a transaction in the block that is being made. */
export type Execute = (transaction: SentTransaction) => Outcome

/** How often players do what, compared with each other. */
type Lots = readonly (readonly [weight: number, action: Action])[]

/** Where land is sold and traded from the beginning on. */
const LOTS_OF_HISTORY: Lots = [
  ...lotsOf({
    ...{
      sale: 12,
      transfer: 10,
      bid_accepted: 6,
      listing: 16,
      listing_cancelled: 4,
      bid: 10,
      bid_cancelled: 3,
    },
    ...{ estate_made: 6, estate_grown: 5, estate_shrunk: 3, estate_dissolved: 1 },
    ...{ name: 9, operator: 6, rent: 6, rent_ended: 4 },
  }),
  ...([
    [4, rare.setOperator],
    [3, rare.setApprovalForAll],
    [3, rare.setUpdateManager],
    [3, rare.shakeEstate],
    [3, rare.changeParcelOfEstate],
    [4, rare.makeNoise],
    [2, rare.listSeveral],
    [5, rare.listAgain],
    [1, rare.cancelNothing],
    [1, rare.cancelDead],
    [4, rare.moveListed],
    [4, rare.returnListed],
    [3, rare.listForeign],
    [8, rare.bidAgain],
    [2, rare.removeExpiredBid],
    [4, rare.rentAgain],
    [1, rare.changeOperatorOfRental],
    [1, rare.loseToRentals],
    [4, mortgage.requestMortgage],
    [1, mortgage.requestOtherLoan],
    [1, mortgage.cancelMortgage],
    [7, mortgage.lend],
    [6, mortgage.payLoan],
    [2, mortgage.changeLender],
    [3, mortgage.claimMortgage],
    [1, mortgage.describeMortgaged],
    [6, trade.acceptSignedListing],
    [3, trade.acceptSignedBid],
    [1, trade.swap],
    [1, trade.tradeNoLand],
    [2, trade.cancelSignature],
    [3, trade.raiseIndex],
  ] as const),
]
/** The owners of a land that is there already: every third deed is one after which it has another owner. */
const TRADE = {
  ...{
    sale: 5,
    signed_sale: 1,
    signed_offer_cancelled: 0.5,
    transfer: 2,
    bid_accepted: 2,
    listing: 7,
    listing_cancelled: 1,
    bid: 4,
    bid_cancelled: 1,
  },
  ...{ estate_made: 0.5, estate_grown: 1, estate_shrunk: 1, estate_dissolved: 0.5 },
  ...{ name: 4, operator: 1, rent: 1, rent_ended: 2 },
}
/** How many actions are tried until one is possible. */
const TRIES = 20
/** They are counted again when this share of the offers can have changed. */
const COUNTED_SHARE = 0.1

/** A deed on command is not possible. */
export class DeedError extends Error {}

/** With what a deed on command is done; undefined: any asset. */
export interface NamedByPlayers {
  readonly parcel?: string | undefined
  readonly estate?: string | undefined
}

/**
 * The people of the chain: they buy, sell, name and rent land, and make estates of it, at random, within what the contracts
 * allow. Within the same process the same seed and the same commands make the same transactions.
 *
 *   world given     they get all land from the project, and do all that contracts allow, also what is rare
 *   without one     they are the owners of the land of a snapshot, and trade it; how much of it is for sale, has a bid, is rented
 *                   or in an estate stays as it was at the beginning. Some sign offers off the chain
 */
export class Players {
  /** Deeds of a block, on average, beside the sales of new parcels. */
  average: number
  private readonly seed: number
  private readonly contracts: Contracts
  private readonly machine: Machine
  private readonly districtOwners: ReadonlySet<Address>
  private readonly sales: LandSales | undefined
  /** Undefined where players sign none off the chain. */
  readonly offers: SignedOffers | undefined
  private known: People | undefined
  private lots: Lots = LOTS_OF_HISTORY
  private atStart: Counts | undefined
  private deedsUntilCount = 0
  private commands = 0

  constructor(parts: {
    readonly seed: number
    readonly chainId: number
    readonly contracts: Contracts
    readonly machine: Machine
    readonly average: number
    /** Where all land is still to be sold. */
    readonly world: World | undefined
    /** They own land that is not for sale. */
    readonly districtOwners: ReadonlySet<Address>
    /** Where a chain goes on: how many there were of what when it began. */
    readonly atStart?: Counts | undefined
  }) {
    this.seed = parts.seed
    this.contracts = parts.contracts
    this.machine = parts.machine
    this.average = parts.average
    this.districtOwners = parts.districtOwners
    this.atStart = parts.atStart
    this.sales = parts.world && new LandSales(parts.world, parts.contracts, parts.machine)
    this.offers = parts.world ? undefined : new SignedOffers(parts)
  }

  /** How many there were of what when the chain began: it stays like that. */
  get countsAtStart(): Counts {
    this.atStart ??= countOf(this.contracts, this.machine.timeS)
    return this.atStart
  }

  /** Sends the transactions of the next block of the fork. */
  sendTransactions(fork: number, execute: Execute): void {
    const { blockNumber } = this.machine
    const random = new Random(this.seed).fork(`block ${blockNumber} of fork ${fork}`)
    const scene = this.sceneWith(random)
    let sent = 0
    const send = (draft: Draft) => {
      const hash = hashOfText(`transaction of ${this.seed}: ${fork} ${blockNumber} ${sent}`)
      execute({ ...draft, hash })
      sent += 1
    }
    for (const draft of this.sales?.drafts(scene) ?? []) send(draft)
    for (const draft of this.offers?.approvals() ?? []) send(draft)
    if (!this.hasLand()) return
    const whole = Math.floor(this.average)
    const count = random.between(0, 2 * whole) + (random.fraction() < this.average - whole ? 1 : 0)
    for (let left = count; left > 0; left--) for (const draft of this.nextDrafts(scene)) send(draft)
  }

  /**
   * Does a deed in the block that is being made.
   *
   * @throws {DeedError} where it is not possible, with the reason
   */
  do(kind: DeedKind, named: NamedByPlayers, execute: Execute): Deed {
    const { blockNumber, timeS } = this.machine
    this.commands += 1
    if (!this.hasLand()) throw new DeedError('fewer than two players own land')
    const scene = this.sceneWith(new Random(this.seed).fork(`command ${this.commands} in ${blockNumber}`))
    const asset = this.assetNamed(named)
    const deed = this.planFor(scene, kind, asset)
    if (!deed) throw new DeedError(`${kind} is not possible now${asset ? ` with ${this.nameOf(asset)}` : ''}`)
    const outcomes = deed.drafts.map((draft, i) => {
      const salt = `on command ${blockNumber} ${timeS} ${this.commands} ${i}`
      return execute({ ...draft, hash: hashOfText(`transaction of ${this.seed}: ${salt}`) })
    })
    if (outcomes.every(({ isSuccess }) => isSuccess)) return deed
    throw new DeedError(`the contract refuses ${kind} with ${this.nameOf(deed.asset)}`)
  }

  /** @example nameOf({ token: contracts.estates, id: numberWord(7) }) // 'estate 7' */
  nameOf({ token, id }: Asset): string {
    if (token === this.contracts.estates) return `estate ${BigInt(id)}`
    const at = token === this.contracts.land ? decodeTokenId(BigInt(id)) : undefined
    return at ? `parcel ${at.x},${at.y}` : `token ${BigInt(id)}`
  }

  /** @throws {DeedError} where the asset is not that of a player who may do with it as they like */
  private planFor(scene: Scene, kind: DeedKind, asset: Asset<LandToken> | undefined): Deed | undefined {
    if (kind === 'rent_ended') return planEndOfRent(scene, asset)
    const owned = asset && scene.owned(asset)
    if (asset && !owned) throw new DeedError(this.whyNotOwned(asset))
    return DEEDS[kind](scene, owned)
  }

  private nextDrafts(scene: Scene): readonly Draft[] {
    if (!this.sales) this.keepBalance()
    for (let i = 0; i < TRIES; i++) {
      const drafts = pickOf(this.lots, scene.random)(scene)
      if (drafts) return drafts
    }
    return []
  }

  /** Counts from time to time what there is, and has players do more of what brings it back to the beginning. */
  private keepBalance(): void {
    this.deedsUntilCount -= 1
    if (this.deedsUntilCount > 0) return
    const { countsAtStart } = this
    const now = countOf(this.contracts, this.machine.timeS)
    this.deedsUntilCount = countsAtStart.offers * COUNTED_SHARE
    this.lots = lotsOf(TRADE, (kind) => balanceOf(kind, now, countsAtStart))
  }

  private sceneWith(random: Random): Scene {
    const { contracts, machine } = this
    return new Scene({
      contracts,
      machine,
      people: this.people,
      random,
      hasRareThings: this.sales !== undefined,
      offers: this.offers,
    })
  }

  private hasLand(): boolean {
    return this.people.players.length > 1 && this.contracts.land.owners.keys.length > 0
  }

  private get people(): People {
    this.known ??= this.sales ? this.newPlayers(this.sales.count) : this.owners()
    return this.known
  }

  private newPlayers(parcels: number): People {
    const length = Math.min(2_000, Math.max(12, Math.round(parcels / 50)))
    const players = Array.from({ length }, (_, i) => addressOfText(`player ${i} of ${this.seed}`))
    // The contract of mortgages has the parcels with a mortgage.
    return { players, isPlayer: new Set(players), mortgaged: new Set() }
  }

  private owners(): People {
    const { land, estates, rentals, bids, mortgages, market, legacyMarket } = this.contracts
    const isPlayer = new Set<Address>()
    for (const token of [land, estates]) for (const [, owner] of token.owners.entries()) isPlayer.add(owner)
    for (const { address } of [land, estates, rentals, bids, mortgages, market, legacyMarket])
      isPlayer.delete(address)
    for (const owner of [...this.districtOwners, PROJECT]) isPlayer.delete(owner)
    const mortgaged = new Set<Word>()
    for (const [, { landId, status }] of mortgages.mortgages.entries())
      if (status === MORTGAGE_STATUS.ongoing) mortgaged.add(landId)
    return { isPlayer, players: [...isPlayer], mortgaged }
  }

  private assetNamed({ parcel, estate }: NamedByPlayers): Asset<LandToken> | undefined {
    if (parcel !== undefined && estate !== undefined)
      throw new DeedError('name a parcel or an estate, not both')
    if (estate !== undefined) {
      if (!/^\d{1,15}$/.test(estate)) throw new DeedError('estate is the number of an estate')
      return { token: this.contracts.estates, id: numberWord(BigInt(estate)) }
    }
    if (parcel === undefined) return undefined
    const at = parseCoord(parcel)
    if (!at) throw new DeedError('parcel is x,y')
    return { token: this.contracts.land, id: numberWord(encodeTokenId(at)) }
  }

  private whyNotOwned(asset: Asset<LandToken>): string {
    const { estates, rentals, mortgages } = this.contracts
    const owner = asset.token.owners.get(asset.id)
    const name = this.nameOf(asset)
    if (owner === undefined) return `${name} has no owner`
    if (owner === estates.address)
      return `${name} is in estate ${BigInt(estates.estateOfParcel.get(asset.id) ?? '0x0')}: name the estate`
    if (owner === rentals.address) return `${name} is rented`
    if (this.districtOwners.has(owner)) return `${name} is land of a district`
    return owner === mortgages.address || this.people.isPlayer.has(owner)
      ? `${name} has a mortgage`
      : `${name} is not the land of a player`
  }
}

function lotsOf(
  weights: Readonly<Partial<Record<DeedKind, number>>>,
  factorOf: (kind: DeedKind) => number = () => 1,
): Lots {
  return DEED_KINDS.map((kind) => [
    (weights[kind] ?? 0) * factorOf(kind),
    (scene: Scene) => DEEDS[kind](scene)?.drafts,
  ])
}

function pickOf(lots: Lots, random: Random): Action {
  let left = random.fraction() * lots.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, action] of lots) {
    left -= weight
    if (left < 0) return action
  }
  return lots.at(-1)![1]
}
