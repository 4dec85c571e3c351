import { address, bytes32, encode, uint } from '../encoding/abi.ts'
import {
  type Address,
  addressWord,
  hashOfParts,
  numberWord,
  type Word,
  ZERO_ADDRESS,
} from '../encoding/words.ts'
import { Cells } from './cells.ts'
import { Contract, type Machine, NO_ID, require } from './machine.ts'
import type { Currency, TokenContract } from './tokens.ts'
import { TOPIC } from './topics.ts'

const PER_MILLION = 1_000_000n
const MINUTE_S = 60n

/** A listing as a marketplace stores it. */
export interface Order {
  readonly id: Word
  readonly seller: Address
  readonly priceWei: bigint
  /** As the seller sent it: the contract takes it for seconds, some clients sent milliseconds. */
  readonly expiresAt: bigint
}

/** What a seller asks for. */
export interface Offer {
  readonly token: TokenContract
  readonly id: Word
  readonly priceWei: bigint
  readonly expiresAt: bigint
}

/** The key of an asset of a contract. */
export const assetKey = (token: Address, id: Word): string => `${token} ${id}`

abstract class Market extends Contract {
  /** One order for each asset; a new one replaces it without a log. Keys are {@link assetKey}. */
  readonly orders: Cells<Order>
  protected readonly currency: Currency
  /** Gets the fees, and may cancel every order. */
  readonly operatorOfMarket: Address
  private readonly cutPerMillion: bigint

  constructor(
    machine: Machine,
    self: Address,
    options: { currency: Currency; owner: Address; cutPerMillion: bigint },
  ) {
    super(machine, self)
    this.orders = new Cells(machine.history)
    this.currency = options.currency
    this.operatorOfMarket = options.owner
    this.cutPerMillion = options.cutPerMillion
  }

  order(token: Address, id: Word, at?: number): Order | undefined {
    return this.orders.get(assetKey(token, id), at)
  }

  protected checkOffer(caller: Address, { token, id, priceWei, expiresAt }: Offer): void {
    require(token.ownerOf(id) === caller, 'only the owner can list it')
    require(token.mayTransfer(this.address, id), 'the marketplace is not approved')
    require(priceWei > 0n &&
      expiresAt > BigInt(this.machine.timeS) + MINUTE_S, 'price or expiry is too small')
  }

  /** Takes the order off the list, then moves the money, then the asset: the order of the logs. */
  protected settle(buyer: Address, token: TokenContract, id: Word, priceWei: bigint): Order {
    const order = this.order(token.address, id)
    require(order !== undefined && order.seller !== buyer && order.priceWei === priceWei, 'no such order')
    require(BigInt(this.machine.timeS) < order.expiresAt, 'the order has expired')
    require(token.ownerOf(id) === order.seller, 'the seller is not the owner any more')
    this.orders.set(assetKey(token.address, id), undefined)
    const fee = (priceWei * this.cutPerMillion) / PER_MILLION
    this.currency.transfer(buyer, this.operatorOfMarket, fee)
    this.currency.transfer(buyer, order.seller, priceWei - fee)
    token.transferFrom(this.address, order.seller, buyer, id)
    return order
  }
}

/** The marketplace of 2018: parcels only. It calls its listings auctions. */
export class LegacyMarketplace extends Market {
  create(caller: Address, offer: Offer): void {
    const { id, priceWei, expiresAt, token } = offer
    this.checkOffer(caller, offer)
    const orderId = hashOfParts(numberWord(this.machine.timeS), caller, id, numberWord(priceWei))
    this.orders.set(assetKey(token.address, id), { id: orderId, seller: caller, priceWei, expiresAt })
    this.log(
      [TOPIC.auctionCreated, id, addressWord(caller)],
      bytes32(orderId),
      uint(priceWei),
      uint(expiresAt),
    )
  }

  execute(buyer: Address, token: TokenContract, id: Word, priceWei: bigint): void {
    const order = this.settle(buyer, token, id, priceWei)
    this.log(
      [TOPIC.auctionSuccessful, id, addressWord(order.seller), addressWord(buyer)],
      bytes32(order.id),
      uint(priceWei),
    )
  }

  /** The owner of the marketplace may cancel what is not listed: the log then has no id and no seller. */
  cancel(caller: Address, token: TokenContract, id: Word): void {
    const order = this.order(token.address, id)
    require(caller === this.operatorOfMarket || caller === order?.seller, 'not authorized')
    this.orders.set(assetKey(token.address, id), undefined)
    this.log(
      [TOPIC.auctionCancelled, id, addressWord(order?.seller ?? ZERO_ADDRESS)],
      bytes32(order?.id ?? NO_ID),
    )
  }
}

/** The marketplace since October 2018: any token. Functions of the older one work too, and log its events as well. */
export class Marketplace extends Market {
  create(caller: Address, offer: Offer, isOldStyle = false): void {
    const { token, id, priceWei, expiresAt } = offer
    this.checkOffer(caller, offer)
    const time = numberWord(this.machine.timeS)
    const orderId = hashOfParts(time, caller, id, token.address, numberWord(priceWei))
    this.orders.set(assetKey(token.address, id), { id: orderId, seller: caller, priceWei, expiresAt })
    const topics = [id, addressWord(caller)]
    const rest = [uint(priceWei), uint(expiresAt)]
    this.log([TOPIC.orderCreated, ...topics], bytes32(orderId), address(token.address), ...rest)
    if (isOldStyle) this.log([TOPIC.auctionCreated, ...topics], bytes32(orderId), ...rest)
  }

  execute(buyer: Address, token: TokenContract, id: Word, priceWei: bigint, isOldStyle = false): void {
    const order = this.settle(buyer, token, id, priceWei)
    const topics = [id, addressWord(order.seller), addressWord(buyer)]
    this.log([TOPIC.orderSuccessful, ...topics], bytes32(order.id), address(token.address), uint(priceWei))
    if (isOldStyle) this.log([TOPIC.auctionSuccessful, ...topics], bytes32(order.id), uint(priceWei))
  }

  cancel(caller: Address, token: TokenContract, id: Word, isOldStyle = false): void {
    const order = this.order(token.address, id)
    require(order !== undefined, 'there is no such order')
    require(caller === this.operatorOfMarket || caller === order.seller, 'not authorized')
    this.orders.set(assetKey(token.address, id), undefined)
    const topics = [id, addressWord(order.seller)]
    this.log([TOPIC.orderCancelled, ...topics], bytes32(order.id), address(token.address))
    if (isOldStyle) this.log([TOPIC.auctionCancelled, ...topics], bytes32(order.id))
  }
}

/** An order as `orderByAssetId` and `auctionByAssetId` answer it, all zero where there is none. */
export function encodeOrder(order: Order | undefined, token?: Address): string {
  const { id = NO_ID, seller = ZERO_ADDRESS, priceWei = 0n, expiresAt = 0n } = order ?? {}
  const tokenOfOrder = token === undefined ? [] : [address(order ? token : ZERO_ADDRESS)]
  return encode(bytes32(id), address(seller), ...tokenOfOrder, uint(priceWei), uint(expiresAt))
}
