import { encodeTokenId, isInWorld, type World } from '@landpass/client/grid'
import { Cells } from '../contracts/cells.ts'
import { type Contracts, PROJECT } from '../contracts/contracts.ts'
import type { Machine } from '../contracts/machine.ts'
import { type Draft, draftOf } from '../contracts/transactions.ts'
import { numberWord, type Word, ZERO_ADDRESS } from '../encoding/words.ts'
import type { Scene } from './scene.ts'

/** Shares of all parcels: what the project sells, what is left for the auction, and what is never sold. */
const SOLD_SHARE = 0.89
const AUCTIONED_SHARE = 0.08
const MINTS_PER_TRANSACTION = 16
const MINTS_PER_NEW_BLOCK = 32
const TILE = 4

/** The sale of new parcels: in the first third of a history, in its auction, and some in each block where there is no history. */
export class LandSales {
  private readonly contracts: Contracts
  private readonly machine: Machine
  /** All parcels, those first that are sold first. */
  private readonly parcels: readonly Word[]
  private readonly sold: number
  /** How many parcels were handed out, by the way. It goes back with the chain. */
  private readonly done: Cells<number>

  constructor(world: World, contracts: Contracts, machine: Machine) {
    this.contracts = contracts
    this.machine = machine
    this.parcels = parcelsOf(world)
    this.sold = Math.ceil(this.parcels.length * SOLD_SHARE)
    this.done = new Cells(machine.history)
  }

  /** The number of parcels of the whole world. */
  get count(): number {
    return this.parcels.length
  }

  /** What is sold in the next block. */
  *drafts(scene: Scene): Generator<Draft> {
    yield* this.sale(scene)
    yield* this.auction(scene)
  }

  private *sale(scene: Scene): Generator<Draft> {
    const { eras, blockNumber } = this.machine
    const { land } = this.contracts
    const isHistory = blockNumber <= eras.estates
    const target = isHistory ? Math.ceil((this.sold * blockNumber) / eras.estates) : this.sold
    const left = target - (this.done.get('sale') ?? 0)
    const due = isHistory ? left : Math.min(left, MINTS_PER_NEW_BLOCK)
    for (const ids of this.hand(scene, { way: 'sale', from: 0, due, isLast: blockNumber >= eras.estates }))
      yield draftOf(PROJECT, land, 'mint', PROJECT, scene.player(), ids)
  }

  private *auction(scene: Scene): Generator<Draft> {
    const { eras, blockNumber } = this.machine
    if (!this.machine.isSince(eras.auction) || this.machine.isSince(eras.auctionEnds)) return
    const { auction } = this.contracts
    const share = (blockNumber + 1 - eras.auction) / (eras.auctionEnds - eras.auction)
    const all = Math.floor(this.parcels.length * AUCTIONED_SHARE)
    const due = Math.ceil(all * share) - (this.done.get('auction') ?? 0)
    const priceWei = BigInt(Math.round(200_000 * (1.02 - share))) * 10n ** 18n + 7n
    const isLast = blockNumber === eras.auctionEnds - 1
    for (const ids of this.hand(scene, { way: 'auction', from: this.sold, due, isLast })) {
      const bidder = scene.player()
      yield draftOf(bidder, auction, 'bid', bidder, ids, bidder, priceWei)
    }
  }

  /**
   * Groups of several parcels that have no owner yet. A group waits until it is full, so that a long history is not one parcel
   * a block; `isLast` hands out what is left.
   */
  private *hand(
    { random }: Scene,
    { way, from, due, isLast }: { way: string; from: number; due: number; isLast: boolean },
  ): Generator<readonly Word[]> {
    for (let left = due; left >= MINTS_PER_TRANSACTION || (isLast && left > 0); ) {
      const size = Math.min(random.between(1, 2 * MINTS_PER_TRANSACTION), left)
      const done = this.done.get(way) ?? 0
      const ids = this.parcels.slice(from + done, from + done + size)
      const free = ids.filter((id) => this.contracts.land.ownerOf(id) === ZERO_ADDRESS)
      this.done.set(way, done + size)
      left -= size
      if (free.length > 0) yield free
    }
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
