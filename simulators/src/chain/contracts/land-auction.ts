import { decodeTokenId } from '@landpass/client/grid'
import { array, uint } from '../encoding/abi.ts'
import { type Address, addressWord, type Word } from '../encoding/words.ts'
import { Cells } from './cells.ts'
import type { LandRegistry } from './land-registry.ts'
import { Contract, type Machine, require } from './machine.ts'
import type { Currency } from './tokens.ts'
import { TOPIC } from './topics.ts'

const COUNT = 'bids'

/** The auction of December 2018: sells parcels that nobody owns at one price, which falls with time. */
export class LandAuction extends Contract {
  private readonly counts: Cells<number>
  private readonly land: LandRegistry
  private readonly currency: Currency

  constructor(machine: Machine, self: Address, parts: { land: LandRegistry; currency: Currency }) {
    super(machine, self)
    this.counts = new Cells(machine.history)
    this.land = parts.land
    this.currency = parts.currency
  }

  bid(bidder: Address, ids: readonly Word[], to: Address, priceWei: bigint): void {
    const { eras } = this.machine
    const isOpen = this.machine.isSince(eras.auction) && !this.machine.isSince(eras.auctionEnds)
    require(isOpen && ids.length > 0, 'the auction is not open')
    const number = this.counts.get(COUNT) ?? 0
    this.counts.set(COUNT, number + 1)
    const totalWei = priceWei * BigInt(ids.length)
    this.currency.transfer(bidder, this.address, totalWei)
    this.land.mint(this.address, to, ids)
    this.currency.burn(this.address, totalWei)
    this.log([TOPIC.tokenBurned, addressWord(this.currency.address)], uint(number), uint(totalWei))
    const places = ids.map((id) => decodeTokenId(BigInt(id))!)
    this.log(
      [TOPIC.bidSuccessful, addressWord(to), addressWord(this.currency.address)],
      ...[uint(number), uint(priceWei), uint(totalWei)],
      ...[array(places.map(({ x }) => uint(x))), array(places.map(({ y }) => uint(y)))],
    )
  }
}
