import { encodeTokenId, parseCoord } from '@landpass/client/grid'
import type { BidRecord } from '@landpass/server/land/records/bid'
import type { JsonMoney } from '@landpass/server/land/records/checks'
import { decimalText } from '@landpass/server/land/records/decimal'
import type { EstateRecord } from '@landpass/server/land/records/estate'
import { parseExactJson } from '@landpass/server/land/records/exact-json'
import type { MortgageRecord } from '@landpass/server/land/records/mortgage'
import type { ParcelRecord } from '@landpass/server/land/records/parcel'
import type { PublicationRecord } from '@landpass/server/land/records/publication'
import type { Contracts } from '../contracts/contracts.ts'
import { assetKey } from '../contracts/marketplaces.ts'
import { LOAN_STATUS, MORTGAGE_STATUS } from '../contracts/mortgages.ts'
import { type LandToken, pairKey } from '../contracts/tokens.ts'
import { type Address, bytesOf, numberWord, type Word, ZERO_ADDRESS } from '../encoding/words.ts'
import { textOf } from './data-text.ts'
import { SnapshotError } from './first-block.ts'
import { snapshotLines } from './snapshot-lines.ts'

const SECOND_MS = 1_000
const WEI_DIGITS = 18
const NO_FINGERPRINT = '0x'

/** What a snapshot tells beside the state of the contracts. */
export interface SnapshotFacts {
  /** Who owns land of districts: they do not trade. */
  readonly districtOwners: ReadonlySet<Address>
}

/**
 * Gives contracts without any land the state that a snapshot describes: owners, operators and rights, estates with their parcels,
 * texts, orders and bids that are stored, mortgages with their loans, rentals. Yields to the event loop.
 *
 * What a snapshot does not have is empty: approvals for single marketplaces, uses of signatures, loans that are no mortgages.
 *
 * @throws {SnapshotError} where a file is missing, or the snapshot is of other contracts
 */
export async function loadContracts(
  folder: string,
  contracts: Contracts,
  signal?: AbortSignal,
): Promise<SnapshotFacts> {
  const loader = new Loader(contracts)
  const read = async (set: string, take: (line: string) => void) => {
    for await (const lines of snapshotLines(folder, set)) {
      signal?.throwIfAborted()
      for (const line of lines) if (line !== '') take(line)
    }
  }
  await read('parcels', (line) => loader.addParcel(JSON.parse(line) as ParcelRecord))
  await read('estates', (line) => loader.addEstate(JSON.parse(line) as EstateRecord))
  await read('publications', (line) => {
    if (isStored(line, 'moved')) loader.addOrder(parseExactJson(line) as PublicationRecord)
  })
  await read('bids', (line) => {
    if (isStored(line, 'fingerprint')) loader.addBid(parseExactJson(line) as BidRecord)
  })
  await read('mortgages', (line) => loader.addMortgage(parseExactJson(line) as MortgageRecord))
  return { districtOwners: loader.districtOwners }
}

/** Whether the contract still has what the line describes. Most lines are of the past: they are not parsed. */
function isStored(line: string, closing: string): boolean {
  return line.includes('"status":"open"') || line.includes(`"closed_by":"${closing}"`)
}

class Loader {
  readonly districtOwners = new Set<Address>()
  private readonly contracts: Contracts

  constructor(contracts: Contracts) {
    this.contracts = contracts
  }

  addParcel(parcel: ParcelRecord): void {
    const { land, estates } = this.contracts
    const { owner, estate_id, district_id } = parcel
    if (owner === null) return
    const id = numberWord(encodeTokenId(parcel))
    if (district_id !== null) this.districtOwners.add(owner)
    if (estate_id !== null) {
      if (owner !== estates.address)
        throw new SnapshotError(
          `The snapshot is of other contracts: parcel ${parcel.id} is in an estate and belongs to ${owner}, not to ${estates.address}.`,
        )
      estates.estateOfParcel.load(id, numberWord(BigInt(estate_id)))
    }
    this.addToken(land, id, parcel)
    land.countLoaded()
    // The parcels of an estate have the rights over the estate.
    if (estate_id === null) this.addRights(land, parcel)
  }

  addEstate(estate: EstateRecord): void {
    const { estates } = this.contracts
    const id = numberWord(BigInt(estate.id))
    const parcels = estate.data.parcels.map((at) => numberWord(encodeTokenId(at)))
    estates.loadEstate(id, parcels)
    this.addToken(estates, id, estate)
    this.addRights(estates, estate)
  }

  addOrder(publication: PublicationRecord): void {
    const { market, legacyMarket } = this.contracts
    const { marketplace_address, owner: seller, contract_id, price, expires_at } = publication
    const one = [market, legacyMarket].find(({ address }) => address === marketplace_address)
    if (!one) return // Signed off the chain, or in a marketplace that is not simulated.
    const { token, id } = this.assetOf(publication)
    const expiresAt = BigInt(expires_at % SECOND_MS === 0 ? expires_at / SECOND_MS : expires_at)
    one.orders.load(assetKey(token.address, id), {
      ...{ id: contract_id, seller, priceWei: weiOf(price), expiresAt },
    })
  }

  addBid(bid: BidRecord): void {
    const { bids } = this.contracts
    const { token, id } = this.assetOf(bid)
    const key = assetKey(token.address, id)
    const stored = {
      ...{ id: bid.id, bidder: bid.bidder, priceWei: weiOf(bid.price) },
      expiresAtS: BigInt(Math.floor(Number(bid.expires_at) / SECOND_MS)),
      fingerprint: bid.fingerprint || NO_FINGERPRINT,
    }
    bids.bids.load(key, [...bids.bidsOf(token.address, id), stored])
    bids.lastIds.load(`${key} ${bid.bidder}`, bid.id)
  }

  addMortgage(record: MortgageRecord): void {
    const { engine, mortgages } = this.contracts
    const { loan_id: loanId, mortgage_id: mortgageId, borrower, status, lender } = record
    const startedS = record.started_at === null ? 0 : Math.floor(Number(record.started_at) / SECOND_MS)
    const duesInS = record.due_in ?? String(startedS === 0 ? 0 : Number(record.is_due_at) - startedS)
    const terms = {
      ...{ amountWei: weiOf(record.amount), interestRate: BigInt(record.interest_rate) },
      punitoryInterestRate: BigInt(record.punitory_interest_rate),
      ...{ duesInS: BigInt(duesInS), cancelableAtS: BigInt(record.payable_at) },
      expiresAt: BigInt(Math.floor(Number(record.expires_at) / SECOND_MS)),
    }
    const loan = { terms, borrower, creator: borrower, lender: lender ?? ZERO_ADDRESS }
    const { initial, lent, paid } = LOAN_STATUS
    const isLent = status === 'ongoing' || status === 'defaulted'
    const loanStatus = isLent ? lent : status === 'paid' || status === 'claimed' ? paid : initial
    engine.loadLoan(loanId, { ...loan, status: loanStatus, paidWei: weiOf(record.paid), lentAtS: startedS })
    mortgages.loadMortgage(mortgageId, {
      ...{ owner: borrower, loanId, landId: this.assetOf(record).id, depositWei: 0n, landCostWei: 0n },
      status: MORTGAGE_STATUS_OF[status],
    })
  }

  private addToken(token: LandToken, id: Word, record: ParcelRecord | EstateRecord): void {
    const { owner, holder, operator, update_operator, data, data_text, tenant, rented_until } = record
    const { rentals } = this.contracts
    token.owners.load(id, holder ?? owner!)
    if (operator !== null && operator !== ZERO_ADDRESS) token.operators.load(id, operator)
    if (update_operator !== null && update_operator !== ZERO_ADDRESS)
      token.updateOperators.load(id, update_operator)
    const text = typeof data_text === 'string' ? bytesOf(data_text) : textOf(data)
    if (text) token.texts.load(id, text)
    if (holder === rentals.address && owner !== null && typeof tenant === 'string')
      rentals.rentals.load(assetKey(token.address, id), {
        ...{ lessor: owner, tenant, endS: Math.floor(Number(rented_until ?? 0) / SECOND_MS) },
      })
  }

  private addRights(token: LandToken, record: ParcelRecord | EstateRecord): void {
    const { owner, holder, approvals_for_all = [], update_managers = [] } = record
    if (typeof holder === 'string' || owner === null) return
    for (const operator of approvals_for_all) loadOnce(token.approvalsForAll, owner, operator)
    for (const manager of update_managers) loadOnce(token.updateManagers, owner, manager)
  }

  private assetOf({ asset_type, asset_id }: Pick<BidRecord, 'asset_type' | 'asset_id'>) {
    const { land, estates } = this.contracts
    if (asset_type === 'estate') return { token: estates, id: numberWord(BigInt(asset_id)) }
    const at = parseCoord(asset_id)
    if (!at) throw new SnapshotError(`${asset_id} is no parcel.`)
    return { token: land, id: numberWord(encodeTokenId(at)) }
  }
}

const MORTGAGE_STATUS_OF: Readonly<Record<MortgageRecord['status'], number>> = {
  pending: MORTGAGE_STATUS.pending,
  cancelled: MORTGAGE_STATUS.canceled,
  ongoing: MORTGAGE_STATUS.ongoing,
  paid: MORTGAGE_STATUS.ongoing, // The borrower has not claimed the parcel yet.
  defaulted: MORTGAGE_STATUS.defaulted,
  claimed: MORTGAGE_STATUS.paid,
}

function loadOnce(rights: LandToken['approvalsForAll'], owner: Address, operator: Address): void {
  const key = pairKey(owner, operator)
  if (rights.get(key) === undefined) rights.load(key, true)
}

/** @example weiOf(1.5) // 1500000000000000000n */
function weiOf(amount: JsonMoney): bigint {
  const [whole = '', part = ''] = (decimalText(String(amount)) ?? '0').split('.')
  return BigInt(whole + part.padEnd(WEI_DIGITS, '0').slice(0, WEI_DIGITS))
}
