import { address, bool, bytes, uint } from '../encoding/abi.ts'
import { type Address, addressWord, bytesOf, type Word } from '../encoding/words.ts'
import { Cells } from './cells.ts'
import { Contract, type Machine, require } from './machine.ts'
import { assetKey } from './marketplaces.ts'
import { type Currency, type LandToken, pairKey } from './tokens.ts'
import { TOPIC } from './topics.ts'

const DAY_S = 86_400
const PAUSED = 'paused'

export interface Rental {
  readonly lessor: Address
  readonly tenant: Address
  readonly endS: number
}

export interface RentalTerms {
  readonly lessor: Address
  readonly tenant: Address
  readonly operator: Address
  readonly days: number
  readonly pricePerDayWei: bigint
  /** Hex; empty where the lessor sends the asset instead of signing. */
  readonly signature: string
}

/** Rents out parcels and estates: it owns them until their lessor claims them, also long after the end of the rent. */
export class Rentals extends Contract {
  /** Keys are {@link assetKey}. */
  readonly rentals: Cells<Rental>
  private readonly indexes: Cells<number>
  private readonly paused: Cells<boolean>
  private readonly currency: Currency
  private readonly owner: Address

  constructor(machine: Machine, self: Address, options: { currency: Currency; owner: Address }) {
    super(machine, self)
    this.rentals = new Cells(machine.history)
    this.indexes = new Cells(machine.history)
    this.paused = new Cells(machine.history)
    this.currency = options.currency
    this.owner = options.owner
  }

  isPaused(at?: number): boolean {
    return this.paused.get(PAUSED, at) ?? false
  }

  pause(caller: Address, isPaused: boolean): void {
    require(caller === this.owner && this.machine.isSince(this.machine.eras.rentals), 'not authorized')
    this.paused.set(PAUSED, isPaused)
    this.log([isPaused ? TOPIC.paused : TOPIC.unpaused], address(caller))
  }

  rental(token: Address, id: Word, at?: number): Rental | undefined {
    return this.rentals.get(assetKey(token, id), at)
  }

  /** Which index an offer of the signer to rent out the asset must have. */
  assetIndex(signer: Address, token: Address, id: Word, at?: number): number {
    return this.indexes.get(pairKey(signer, assetKey(token, id)), at) ?? 0
  }

  /** All of them, by {@link pairKey} of signer and asset. */
  indexEntries(at?: number): Iterable<readonly [string, number]> {
    return this.indexes.entries(at)
  }

  /** Starts a rent; or extends the one that runs, if it is of the same two; or starts the next one after its end. */
  rent(sender: Address, token: LandToken, id: Word, terms: RentalTerms): void {
    require(!this.isPaused(), 'the contract is paused')
    const { timeS, eras } = this.machine
    const { lessor, tenant, days, pricePerDayWei, operator } = terms
    const key = assetKey(token.address, id)
    const current = this.rentals.get(key)
    const runs = current !== undefined && timeS <= current.endS
    const isExtension = runs && current.lessor === lessor && current.tenant === tenant
    require(this.machine.isSince(eras.rentals) && lessor !== tenant && days > 0, 'not possible')
    require(!runs || isExtension, 'it is rented to somebody else')
    require(current === undefined || current.lessor === lessor, 'only the lessor can rent it out')
    this.raiseIndex(lessor, token.address, id, sender)
    this.raiseIndex(tenant, token.address, id, sender)
    this.currency.transfer(tenant, lessor, pricePerDayWei * BigInt(days))
    if (current === undefined) token.transferFrom(this.address, lessor, this.address, id)
    token.setUpdateOperator(this.address, id, operator)
    const endS = (isExtension ? current.endS : timeS) + days * DAY_S
    this.rentals.set(key, { lessor, tenant, endS })
    this.log(
      [TOPIC.assetRented, addressWord(token.address), id],
      ...[address(lessor), address(tenant), address(operator), uint(days), uint(pricePerDayWei)],
      ...[bool(isExtension), address(sender), bytes(bytesOf(terms.signature))],
    )
  }

  /** Gives the asset back to its lessor after the end of the rent. */
  claim(caller: Address, token: LandToken, id: Word): void {
    require(!this.isPaused(), 'the contract is paused')
    const key = assetKey(token.address, id)
    const rental = this.rentals.get(key)
    require(rental !== undefined && rental.lessor === caller, 'not the lessor')
    require(this.machine.timeS > rental.endS, 'the rent still runs')
    this.rentals.set(key, undefined)
    token.transferFrom(this.address, this.address, caller, id)
    this.log([TOPIC.assetClaimed, addressWord(token.address), id], address(caller))
  }

  /** The tenant lets somebody else build there. Only the registry logs it. */
  setOperator(caller: Address, token: LandToken, id: Word, operator: Address): void {
    require(!this.isPaused(), 'the contract is paused')
    const rental = this.rental(token.address, id)
    require(rental?.tenant === caller && this.machine.timeS <= rental.endS, 'not the tenant')
    token.setUpdateOperator(this.address, id, operator)
  }

  private raiseIndex(signer: Address, token: Address, id: Word, sender: Address): void {
    const key = pairKey(signer, assetKey(token, id))
    const index = (this.indexes.get(key) ?? 0) + 1
    this.indexes.set(key, index)
    const topics = [TOPIC.assetIndexUpdated, addressWord(signer), addressWord(token), id]
    this.log(topics, uint(index), address(sender))
  }
}
