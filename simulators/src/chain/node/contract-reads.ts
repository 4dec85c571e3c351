import { encodeBid } from '../contracts/bids.ts'
import type { Cells } from '../contracts/cells.ts'
import type { Contracts } from '../contracts/contracts.ts'
import { NO_ID, Revert, require } from '../contracts/machine.ts'
import { assetKey, encodeOrder } from '../contracts/marketplaces.ts'
import type { Loan } from '../contracts/mortgages.ts'
import { type LandToken, pairKey } from '../contracts/tokens.ts'
import type { OffChainMarketplace } from '../contracts/trades.ts'
import { address, bool, bytes, bytes32, encode, uint } from '../encoding/abi.ts'
import {
  type Address,
  addressWord,
  hashOfParts,
  hashOfText,
  numberWord,
  type Word,
  wordAddress,
  ZERO_ADDRESS,
} from '../encoding/words.ts'

/** The block whose state is read. */
interface At {
  readonly block: number
  readonly timeS: number
}

/** Reads a contract. Arguments are words: all of these functions take numbers and addresses. @throws {Revert} */
type Read = (at: At, ...args: readonly Word[]) => string
type Reads = Readonly<Record<string, (at: At, first: Word, second: Word, third: Word) => string>>

const SELECTOR_LENGTH = 10
const WORD_DIGITS = 64
const NO_TEXT = new Uint8Array()

/** The read functions of the contracts, for eth_call. */
export class ContractReads {
  private readonly reads: ReadonlyMap<Address, ReadonlyMap<string, Read>>

  constructor(contracts: Contracts) {
    const { land, estates, legacyMarket, market, bids, engine, mortgages, rentals, trades } = contracts
    this.reads = new Map([
      [land.address, bySelector(landReads(contracts))],
      [estates.address, bySelector(estateReads(contracts))],
      [legacyMarket.address, bySelector(legacyMarketReads(contracts))],
      [market.address, bySelector(marketReads(contracts))],
      [bids.address, bySelector(bidReads(contracts))],
      [engine.address, bySelector(engineReads(contracts))],
      [mortgages.address, bySelector(mortgageReads(contracts))],
      [rentals.address, bySelector(rentalReads(contracts))],
      ...trades.map((trade) => [trade.address, bySelector(tradeReads(trade))] as const),
    ])
  }

  /**
   * The answer of a call in hex; `0x` for an address without a contract.
   *
   * @throws {Revert} as the contract does, and for a function that it does not have
   */
  call(to: Address, data: string, at: At): string {
    const reads = this.reads.get(to)
    if (!reads) return '0x'
    const read = reads.get(data.slice(0, SELECTOR_LENGTH))
    if (!read) throw new Revert('there is no such function')
    return read(at, ...wordsOf(data.slice(SELECTOR_LENGTH)))
  }
}

function tokenReads(token: LandToken): Reads {
  return {
    'getApproved(uint256)': ({ block }, id) => encodeAddress(token.operators.get(id, block)),
    'updateOperator(uint256)': ({ block }, id) => encodeAddress(token.updateOperators.get(id, block)),
    'isApprovedForAll(address,address)': ({ block }, holder, operator) =>
      encode(bool(token.isApprovedForAll(wordAddress(holder), wordAddress(operator), block))),
    'updateManager(address,address)': ({ block }, owner, manager) =>
      encode(
        bool(token.updateManagers.get(pairKey(wordAddress(owner), wordAddress(manager)), block) ?? false),
      ),
  }
}

function landReads({ land, mortgages, rentals }: Contracts): Reads {
  const idAt = (x: Word, y: Word) => numberWord((BigInt(x) << 128n) | BigInt.asUintN(128, BigInt(y)))
  return {
    ...tokenReads(land),
    'ownerOf(uint256)': ({ block }, id) => encodeAddress(land.ownerOf(id, block)),
    'totalSupply()': ({ block }) => encode(uint(land.total(block))),
    'exists(int256,int256)': ({ block }, x, y) =>
      encode(bool(land.ownerOf(idAt(x, y), block) !== ZERO_ADDRESS)),
    'ownerOfLand(int256,int256)': ({ block }, x, y) => encodeAddress(land.ownerOf(idAt(x, y), block)),
    // The registry asks owners that are contracts, and these two do not understand the question.
    'landData(int256,int256)': ({ block }, x, y) => {
      const id = idAt(x, y)
      const owner = land.ownerOf(id, block)
      require(owner !== mortgages.address && owner !== rentals.address, 'the owner does not answer')
      return encode(bytes(land.texts.get(id, block) ?? NO_TEXT))
    },
  }
}

function estateReads({ estates }: Contracts): Reads {
  return {
    ...tokenReads(estates),
    'ownerOf(uint256)': ({ block }, id) => {
      const owner = estates.ownerOf(id, block)
      require(owner !== ZERO_ADDRESS, 'there is no such estate')
      return encodeAddress(owner)
    },
    'exists(uint256)': ({ block }, id) => encode(bool(estates.ownerOf(id, block) !== ZERO_ADDRESS)),
    'totalSupply()': ({ block }) => encode(uint(estates.total(block))),
    'getEstateSize(uint256)': ({ block }, id) => encode(uint(estates.parcelsOf(id, block).length)),
    'estateLandIds(uint256,uint256)': ({ block }, id, index) => {
      const parcel = estates.parcelsOf(id, block)[Number(BigInt(index))]
      require(parcel !== undefined, 'no such index')
      return encode(bytes32(parcel))
    },
    'getLandEstateId(uint256)': ({ block }, id) =>
      encode(bytes32(estates.estateOfParcel.get(id, block) ?? NO_ID)),
    'getFingerprint(uint256)': ({ block }, id) => encode(bytes32(estates.firstFingerprint(id, block))),
    'getFingerprintV2(uint256)': ({ block }, id) => encode(bytes32(estates.secondFingerprint(id, block))),
    'getMetadata(uint256)': ({ block }, id) => encode(bytes(estates.texts.get(id, block) ?? NO_TEXT)),
  }
}

function legacyMarketReads({ legacyMarket, land }: Contracts): Reads {
  return {
    'auctionByAssetId(uint256)': ({ block }, id) => encodeOrder(legacyMarket.order(land.address, id, block)),
  }
}

function marketReads({ market, land }: Contracts): Reads {
  return {
    'orderByAssetId(address,uint256)': ({ block }, token, id) =>
      encodeOrder(market.order(wordAddress(token), id, block), wordAddress(token)),
    'auctionByAssetId(uint256)': ({ block }, id) => encodeOrder(market.order(land.address, id, block)),
  }
}

function bidReads({ bids }: Contracts): Reads {
  return {
    'bidIdByTokenAndBidder(address,uint256,address)': ({ block }, token, id, bidder) => {
      const key = `${assetKey(wordAddress(token), id)} ${wordAddress(bidder)}`
      return encode(bytes32(bids.lastIds.get(key, block) ?? NO_ID))
    },
    'getBidByBidder(address,uint256,address)': ({ block }, token, id, bidder) => {
      const active = bids.bidsOf(wordAddress(token), id, block)
      const index = active.findIndex((one) => one.bidder === wordAddress(bidder))
      require(index >= 0, 'the bidder has no active bid')
      return encode(uint(index)) + encodeBid(active[index]!).slice(2)
    },
    'bidCounterByToken(address,uint256)': ({ block }, token, id) =>
      encode(uint(bids.bidsOf(wordAddress(token), id, block).length)),
    'getBidByToken(address,uint256,uint256)': ({ block }, token, id, index) => {
      const bid = bids.bidsOf(wordAddress(token), id, block)[Number(BigInt(index))]
      require(bid !== undefined, 'no such index')
      return encodeBid(bid)
    },
  }
}

function engineReads({ engine, currency }: Contracts): Reads {
  const number = (read: (loan: Loan, at: At) => bigint | number) => (at: At, index: Word) =>
    encode(uint(read(engine.get(Number(BigInt(index)), at.block), at)))
  const party = (read: (loan: Loan) => Address) => (at: At, index: Word) =>
    encodeAddress(read(engine.get(Number(BigInt(index)), at.block)))
  return {
    'getAmount(uint256)': number(({ terms }) => terms.amountWei),
    'getInterestRate(uint256)': number(({ terms }) => terms.interestRate),
    'getInterestRatePunitory(uint256)': number(({ terms }) => terms.punitoryInterestRate),
    'getDuesIn(uint256)': number(({ terms }) => terms.duesInS),
    'getCancelableAt(uint256)': number(({ terms }) => terms.cancelableAtS),
    'getExpirationRequest(uint256)': number(({ terms }) => terms.expiresAt),
    'getStatus(uint256)': number(({ status }) => status),
    'getPaid(uint256)': number(({ paidWei }) => paidWei),
    'getDueTime(uint256)': number((loan) => engine.dueTimeS(loan)),
    'getPendingAmount(uint256)': number((loan, at) => engine.pendingWei(loan, at.timeS)),
    'getRawPendingAmount(uint256)': number((loan, at) => engine.pendingWei(loan, at.timeS)),
    'getBorrower(uint256)': party(({ borrower }) => borrower),
    'getCreator(uint256)': party(({ creator }) => creator),
    'ownerOf(uint256)': party(({ lender }) => lender),
    'getCurrency(uint256)': party(() => currency.address),
  }
}

function mortgageReads({ mortgages, market, engine, currency }: Contracts): Reads {
  return {
    'mortgages(uint256)': ({ block }, id) => {
      const mortgage = mortgages.mortgages.get(String(BigInt(id)), block)
      require(mortgage !== undefined, 'there is no such mortgage')
      const { owner, loanId, depositWei, landId, landCostWei, status } = mortgage
      return encode(
        ...[address(market.address), address(owner), address(engine.address), uint(loanId)],
        ...[uint(depositWei), bytes32(landId), uint(landCostWei), uint(status), address(currency.address)],
      )
    },
    'loanToLiability(address,uint256)': ({ block }, _engine, loanId) =>
      encode(uint(mortgages.mortgageOfLoan.get(String(BigInt(loanId)), block) ?? 0)),
  }
}

function rentalReads({ rentals }: Contracts): Reads {
  return {
    'getRental(address,uint256)': ({ block }, token, id) => {
      const rental = rentals.rental(wordAddress(token), id, block)
      const { lessor = ZERO_ADDRESS, tenant = ZERO_ADDRESS, endS = 0 } = rental ?? {}
      return encode(address(lessor), address(tenant), uint(endS))
    },
    'paused()': ({ block }) => encode(bool(rentals.isPaused(block))),
    // No player of the simulated chain raises these two.
    'getContractIndex()': () => encode(uint(0)),
    'getSignerIndex(address)': () => encode(uint(0)),
    'getAssetIndex(address,uint256,address)': ({ block }, token, id, signer) =>
      encode(uint(rentals.assetIndex(wordAddress(signer), wordAddress(token), id, block))),
    'getIsRented(address,uint256)': ({ block, timeS }, token, id) =>
      encode(bool((rentals.rental(wordAddress(token), id, block)?.endS ?? -1) >= timeS)),
  }
}

function tradeReads(market: OffChainMarketplace): Reads {
  return {
    'contractSignatureIndex()': ({ block }) => encode(uint(market.contractIndex(block))),
    'paused()': ({ block }) => encode(bool(market.isPaused(block))),
    'signerSignatureIndex(address)': ({ block }, signer) =>
      encode(uint(market.signerIndex(wordAddress(signer), block))),
    'signatureUses(bytes32)': ({ block }, name) => encode(uint(findByName(market.uses, name, block) ?? 0)),
    'cancelledSignatures(bytes32)': ({ block }, name) =>
      encode(bool(findByName(market.cancelled, name, block) ?? false)),
  }
}

/** The contract keeps these by the hash of signer and key, and the simulated one by both. */
function findByName<Value>(cells: Cells<Value>, name: Word, block: number): Value | undefined {
  for (const [pair, value] of cells.entries(block)) {
    const [signer, key] = pair.split(' ') as [Address, Word]
    if (hashOfParts(addressWord(signer), key) === name) return value
  }
  return undefined
}

function bySelector(reads: Reads): ReadonlyMap<string, Read> {
  return new Map(
    Object.entries(reads).map(([signature, read]) => {
      const names = signature.slice(signature.indexOf('(') + 1, -1)
      const count = names === '' ? 0 : names.split(',').length
      const checked: Read = (at, ...args) => {
        require(args.length >= count, 'arguments are missing')
        const [first = NO_ID, second = NO_ID, third = NO_ID] = args
        return read(at, first, second, third)
      }
      return [hashOfText(signature).slice(0, SELECTOR_LENGTH), checked]
    }),
  )
}

function wordsOf(digits: string): readonly Word[] {
  return Array.from(
    { length: Math.floor(digits.length / WORD_DIGITS) },
    (_, i) => `0x${digits.slice(i * WORD_DIGITS, (i + 1) * WORD_DIGITS)}`,
  )
}

function encodeAddress(value: Address = ZERO_ADDRESS): string {
  return encode(address(value))
}
