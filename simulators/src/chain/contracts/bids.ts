import { address, bytes, bytes32, encode, uint } from '../encoding/abi.ts'
import { type Address, addressWord, bytesOf, hashOfParts, numberWord, type Word } from '../encoding/words.ts'
import { Cells } from './cells.ts'
import { Contract, type Machine, Revert, require } from './machine.ts'
import { assetKey } from './marketplaces.ts'
import type { Currency, TokenContract } from './tokens.ts'
import { TOPIC } from './topics.ts'

const PER_MILLION = 1_000_000n
const CUT_PER_MILLION = 25_000n
const MIN_DURATION_S = 60n
const MAX_DURATION_S = 182n * 86_400n
const NO_BIDS: readonly Bid[] = []

export interface Bid {
  readonly id: Word
  readonly bidder: Address
  readonly priceWei: bigint
  readonly expiresAtS: bigint
  /** Hex; `0x` for everything but estates. */
  readonly fingerprint: string
}

/** Bids for tokens: one of each bidder for each token. They stay when the token gets another owner. */
export class BidContract extends Contract {
  /** The active bids of a token, in the order of the contract. Keys are {@link assetKey}. */
  readonly bids: Cells<readonly Bid[]>
  /** The last id that a bidder got for a token, which may be of a bid that is void by now. */
  readonly lastIds: Cells<Word>
  private readonly currency: Currency
  private readonly owner: Address

  constructor(machine: Machine, self: Address, options: { currency: Currency; owner: Address }) {
    super(machine, self)
    this.bids = new Cells(machine.history)
    this.lastIds = new Cells(machine.history)
    this.currency = options.currency
    this.owner = options.owner
  }

  bidsOf(token: Address, id: Word, at?: number): readonly Bid[] {
    return this.bids.get(assetKey(token, id), at) ?? NO_BIDS
  }

  /** The highest bid for a token that has not expired, in wei; 0 without one. */
  highest(token: Address, id: Word): bigint {
    return this.bidsOf(token, id)
      .filter(({ expiresAtS }) => expiresAtS >= BigInt(this.machine.timeS))
      .reduce((most, { priceWei }) => (priceWei > most ? priceWei : most), 0n)
  }

  /** Another bid of the same bidder is replaced, without a log. */
  place(
    bidder: Address,
    token: TokenContract,
    id: Word,
    terms: { priceWei: bigint; durationS: bigint; fingerprint: string },
  ): void {
    const { priceWei, durationS, fingerprint } = terms
    const owner = token.ownerOf(id)
    require(BigInt(owner) !== 0n && owner !== bidder && priceWei > 0n, 'cannot bid')
    require(durationS >= MIN_DURATION_S && durationS <= MAX_DURATION_S, 'the duration is not allowed')
    const { timeS } = this.machine
    const asset = [bidder, token.address, id] as const
    const numbers = [numberWord(priceWei), numberWord(durationS), fingerprint]
    const bidId = hashOfParts(numberWord(timeS), ...asset, ...numbers)
    const bid = { id: bidId, bidder, priceWei, expiresAtS: BigInt(timeS) + durationS, fingerprint }
    const bids = this.bidsOf(token.address, id)
    const own = bids.findIndex((one) => one.bidder === bidder)
    const key = assetKey(token.address, id)
    this.bids.set(key, own < 0 ? [...bids, bid] : bids.with(own, bid))
    this.lastIds.set(`${key} ${bidder}`, bidId)
    this.log(
      [TOPIC.bidCreated, addressWord(token.address), id, addressWord(bidder)],
      ...[bytes32(bidId), uint(priceWei), uint(bid.expiresAtS), bytes(bytesOf(fingerprint))],
    )
  }

  /** The owner accepts a bid by sending the token to this contract. All other bids of the token are void, without logs. */
  accept(seller: Address, token: TokenContract, id: Word, bidId: Word): void {
    const bid = this.bidsOf(token.address, id).find((one) => one.id === bidId)
    token.transferFrom(seller, seller, this.address, id)
    require(bid !== undefined && bid.expiresAtS >= BigInt(this.machine.timeS), 'the bid is not valid')
    require(token.verifyFingerprint?.(id, bid.fingerprint) ?? true, 'the fingerprint is another one')
    this.bids.set(assetKey(token.address, id), undefined)
    token.transferFrom(this.address, this.address, bid.bidder, id)
    const fee = (bid.priceWei * CUT_PER_MILLION) / PER_MILLION
    this.currency.transfer(bid.bidder, this.owner, fee)
    this.currency.transfer(bid.bidder, seller, bid.priceWei - fee)
    this.log(
      [TOPIC.bidAccepted, addressWord(token.address), id, addressWord(seller)],
      ...[bytes32(bidId), address(bid.bidder), uint(bid.priceWei), uint(fee)],
    )
  }

  /** Accepts the bid that the bidder has by now, whose id the owner reads when the transaction is sent. */
  acceptFrom(seller: Address, token: TokenContract, id: Word, bidder: Address): void {
    const bid = this.bidsOf(token.address, id).find((one) => one.bidder === bidder)
    require(bid !== undefined, 'there is no such bid')
    this.accept(seller, token, id, bid.id)
  }

  cancel(bidder: Address, token: Address, id: Word): void {
    this.remove(token, id, bidder)
  }

  /** Everybody may remove a bid that has expired; the log looks like a cancellation by its bidder. */
  removeExpired(token: Address, id: Word, bidder: Address): void {
    const bid = this.bidsOf(token, id).find((one) => one.bidder === bidder)
    require(bid !== undefined && bid.expiresAtS < BigInt(this.machine.timeS), 'the bid has not expired')
    this.remove(token, id, bidder)
  }

  private remove(token: Address, id: Word, bidder: Address): void {
    const bids = [...this.bidsOf(token, id)]
    const index = bids.findIndex((one) => one.bidder === bidder)
    const bid = bids[index]
    if (!bid) throw new Revert('there is no such bid')
    // The contract moves the last bid into the gap.
    bids[index] = bids.at(-1)!
    this.bids.set(assetKey(token, id), bids.length === 1 ? undefined : bids.slice(0, -1))
    this.log([TOPIC.bidCancelled, addressWord(token), id, addressWord(bidder)], bytes32(bid.id))
  }
}

/** A bid as `getBidByToken` answers it. */
export function encodeBid({ id, bidder, priceWei, expiresAtS }: Bid): string {
  return encode(bytes32(id), address(bidder), uint(priceWei), uint(expiresAtS))
}
