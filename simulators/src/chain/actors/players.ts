import { encodeTokenId, isInWorld, type World } from '@landpass/client/grid'
import { type Contracts, PROJECT } from '../contracts/contracts.ts'
import type { Machine } from '../contracts/machine.ts'
import {
  type Address,
  addressOfText,
  hashOfText,
  numberWord,
  type Word,
  ZERO_ADDRESS,
} from '../encoding/words.ts'
import type { Actors, Execute, TransactionRequest } from './actors.ts'
import * as bid from './bid-actions.ts'
import { Dice } from './dice.ts'
import * as land from './land-actions.ts'
import * as market from './market-actions.ts'
import * as mortgage from './mortgage-actions.ts'
import * as rental from './rental-actions.ts'
import { type Action, type Draft, Scene } from './scene.ts'
import * as trade from './trade-actions.ts'

/** How often players do what, compared with each other. */
const ACTIONS: readonly (readonly [weight: number, action: Action])[] = [
  ...([
    [10, land.transfer],
    [9, land.describe],
    [4, land.setOperator],
    [6, land.setUpdateOperator],
  ] as const),
  ...([
    [3, land.setApprovalForAll],
    [3, land.setUpdateManager],
    [6, land.createEstate],
  ] as const),
  ...([
    [5, land.growEstate],
    [4, land.shrinkEstate],
    [3, land.shakeEstate],
  ] as const),
  ...([
    [3, land.changeParcelOfEstate],
    [4, land.makeNoise],
  ] as const),
  ...([
    [16, market.list],
    [2, market.listSeveral],
    [5, market.listAgain],
    [12, market.buy],
  ] as const),
  ...([
    [5, market.cancelListing],
    [1, market.cancelNothing],
    [4, market.moveListed],
  ] as const),
  ...([
    [4, market.returnListed],
    [3, market.listForeign],
  ] as const),
  ...([
    [10, bid.placeBid],
    [8, bid.bidAgain],
    [6, bid.acceptBid],
    [3, bid.cancelBid],
  ] as const),
  ...([[2, bid.removeExpiredBid]] as const),
  ...([
    [4, mortgage.requestMortgage],
    [1, mortgage.requestOtherLoan],
    [1, mortgage.cancelMortgage],
  ] as const),
  ...([
    [7, mortgage.lend],
    [6, mortgage.payLoan],
    [2, mortgage.changeLender],
  ] as const),
  ...([
    [3, mortgage.claimMortgage],
    [1, mortgage.describeMortgaged],
  ] as const),
  ...([
    [6, trade.acceptSignedListing],
    [3, trade.acceptSignedBid],
    [1, trade.swap],
  ] as const),
  ...([
    [1, trade.tradeNoLand],
    [2, trade.cancelSignature],
    [1, trade.raiseIndex],
  ] as const),
  ...([
    [6, rental.rentOut],
    [4, rental.rentAgain],
    [4, rental.claimRental],
  ] as const),
  ...([
    [1, rental.changeOperatorOfRental],
    [1, rental.loseToRentals],
  ] as const),
]
const LOTS = ACTIONS.flatMap(([weight, action]) => Array.from({ length: weight }, () => action))
/** How many actions are tried until one is possible. */
const TRIES = 20

/** Of all parcels: what the project sells, what is left for the auction, and what nobody ever gets. */
const SOLD_SHARE = 0.89
const AUCTIONED_SHARE = 0.08
const MINTS_PER_TRANSACTION = 16
const MINTS_PER_NEW_BLOCK = 32
const TILE = 4

/**
 * The people of the chain. They buy, sell, build and lend at random, within what the contracts allow, and always the same
 * for the same seed.
 */
export class Players implements Actors {
  private readonly seed: number
  private readonly contracts: Contracts
  private readonly machine: Machine
  average: number
  private readonly players: readonly Address[]
  private readonly isPlayer: ReadonlySet<Address>
  /** All parcels, those first that are sold first. */
  private readonly parcels: readonly Word[]
  private readonly sold: number
  private nextSold = 0
  private nextAuctioned: number
  private sentCount = 0

  constructor(parts: {
    seed: number
    world: World
    contracts: Contracts
    machine: Machine
    /** Transactions of a block, on average, beside the sales of new parcels. */
    transactionsPerBlock: number
  }) {
    this.seed = parts.seed
    this.contracts = parts.contracts
    this.machine = parts.machine
    this.average = parts.transactionsPerBlock
    this.parcels = parcelsOf(parts.world)
    this.sold = Math.ceil(this.parcels.length * SOLD_SHARE)
    this.nextAuctioned = this.sold
    const count = Math.min(2_000, Math.max(12, Math.round(this.parcels.length / 50)))
    this.players = Array.from({ length: count }, (_, i) => addressOfText(`player ${i} of ${parts.seed}`))
    this.isPlayer = new Set(this.players)
  }

  /** What happens in the next block of the fork. @param execute runs a transaction in the block */
  sendTransactions(fork: number, execute: Execute): void {
    const dice = new Dice(this.seed, fork, this.machine.blockNumber)
    const { contracts, machine, players, isPlayer } = this
    const scene = new Scene({ contracts, machine, players, isPlayer, dice })
    this.sell(scene, execute)
    this.auction(scene, execute)
    if (contracts.land.owners.keys.length === 0) return
    for (let left = dice.count(this.average); left > 0; left--) {
      for (const draft of this.nextDrafts(scene)) execute(this.send(draft))
    }
  }

  /** The chain went back: parcels may be unsold again. */
  lookAgain(): void {
    this.nextSold = 0
    this.nextAuctioned = this.sold
  }

  private send(draft: Draft): TransactionRequest {
    this.sentCount += 1
    return { ...draft, hash: hashOfText(`transaction ${this.sentCount} of ${this.seed}`) }
  }

  private nextDrafts(scene: Scene): readonly Draft[] {
    for (let i = 0; i < TRIES; i++) {
      const drafts = scene.dice.pick(LOTS)(scene)
      if (drafts) return drafts
    }
    return []
  }

  /** New parcels are sold in the first third of the history, and a few a block where there is none. */
  private sell(scene: Scene, execute: Execute): void {
    const { eras, blockNumber } = this.machine
    const { land } = this.contracts
    const isHistory = blockNumber <= eras.estates
    const target = isHistory ? Math.ceil((this.sold * blockNumber) / eras.estates) : this.sold
    const due = isHistory ? target - this.nextSold : Math.min(target - this.nextSold, MINTS_PER_NEW_BLOCK)
    const isLast = blockNumber >= eras.estates
    this.nextSold += this.hand(scene, { first: this.nextSold, due, isLast }, (ids) => {
      const to = scene.player()
      execute(this.send({ from: PROJECT, to: land.address, run: () => land.mint(PROJECT, to, ids) }))
    })
  }

  private auction(scene: Scene, execute: Execute): void {
    const { eras, blockNumber } = this.machine
    if (!this.machine.isSince(eras.auction) || this.machine.isSince(eras.auctionEnds)) return
    const { auction } = this.contracts
    const all = Math.floor(this.parcels.length * AUCTIONED_SHARE)
    const share = (blockNumber + 1 - eras.auction) / (eras.auctionEnds - eras.auction)
    const due = this.sold + Math.ceil(all * share) - this.nextAuctioned
    const priceWei = BigInt(Math.round(200_000 * (1.02 - share))) * 10n ** 18n + 7n
    const isLast = blockNumber === eras.auctionEnds - 1
    this.nextAuctioned += this.hand(scene, { first: this.nextAuctioned, due, isLast }, (ids) => {
      const bidder = scene.player()
      const run = () => auction.bid(bidder, ids, bidder, priceWei)
      execute(this.send({ from: bidder, to: auction.address, run }))
    })
  }

  /**
   * Hands out parcels in groups of several. A group waits until it is full, so that a long history is not one parcel a
   * block; `isLast` hands out what is left. @returns how many
   */
  private hand(
    { dice }: Scene,
    { first, due, isLast }: { first: number; due: number; isLast: boolean },
    give: (ids: readonly Word[]) => void,
  ): number {
    let done = 0
    while (due - done >= MINTS_PER_TRANSACTION || (isLast && due > done)) {
      const size = Math.min(dice.whole(1, 2 * MINTS_PER_TRANSACTION), due - done)
      const ids = this.free(first + done, size)
      done += size
      if (ids.length > 0) give(ids)
    }
    return done
  }

  private free(first: number, size: number): readonly Word[] {
    const ids = this.parcels.slice(first, first + size)
    return ids.filter((id) => this.contracts.land.ownerOf(id) === ZERO_ADDRESS)
  }
}

/** The parcels of a world, tile by tile from the middle to the edge: neighbours are sold together. */
function parcelsOf(world: World): readonly Word[] {
  const { minX, minY, maxX, maxY } = world.bounds
  const parcels: { x: number; y: number; ring: number; tile: number }[] = []
  for (let x = minX; x <= maxX; x++) {
    for (let y = minY; y <= maxY; y++) {
      if (!isInWorld(world, { x, y })) continue
      const [tileX, tileY] = [Math.floor(x / TILE), Math.floor(y / TILE)]
      const ring = Math.max(Math.abs(tileX), Math.abs(tileY))
      parcels.push({ x, y, ring, tile: tileX * 1_000_000 + tileY })
    }
  }
  // The sort is stable: inside of a tile the order stays.
  parcels.sort((a, b) => a.ring - b.ring || a.tile - b.tile)
  return parcels.map((at) => numberWord(encodeTokenId(at)))
}
