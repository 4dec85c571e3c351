import { address, bytes, bytes32, uint } from '../encoding/abi.ts'
import { type Address, addressWord, type Word, ZERO_ADDRESS } from '../encoding/words.ts'
import { Cells } from './cells.ts'
import type { LandRegistry } from './land-registry.ts'
import { Contract, type Machine, require } from './machine.ts'
import type { Marketplace } from './marketplaces.ts'
import type { Currency } from './tokens.ts'
import { TOPIC } from './topics.ts'

const WEEK_S = 7 * 86_400
const COUNT = 'count'
/** 'MANA' in a word. */
const MANA: Word = `0x4d414e41${'0'.repeat(56)}`
const DECIMALS = 18
const ONE_WEI = 10n ** 18n
const RATE_UNIT = 100_000n

/** What a borrower asks for. The engine keeps it as it was sent, and no log has it. */
export interface LoanTerms {
  readonly amountWei: bigint
  readonly interestRate: bigint
  readonly punitoryInterestRate: bigint
  readonly duesInS: bigint
  readonly cancelableAtS: bigint
  readonly expiresAt: bigint
}

export const LOAN_STATUS = { initial: 0, lent: 1, paid: 2, destroyed: 3 } as const

export interface Loan {
  readonly terms: LoanTerms
  readonly borrower: Address
  readonly creator: Address
  readonly status: number
  readonly lender: Address
  readonly paidWei: bigint
  /** 0 before it is lent. */
  readonly lentAtS: number
}

/** The engine of loans. Its loans are tokens of their lenders; most loans of the real one are no mortgages. */
export class LoanEngine extends Contract {
  /** Keys are the numbers of the loans. */
  readonly loans: Cells<Loan>
  private readonly counts: Cells<number>
  private readonly currency: Currency

  constructor(machine: Machine, self: Address, currency: Currency) {
    super(machine, self)
    this.loans = new Cells(machine.history)
    this.counts = new Cells(machine.history)
    this.currency = currency
  }

  /** Stores a loan that was there before the first transaction. */
  loadLoan(index: number, loan: Loan): void {
    this.loans.load(String(index), loan)
    if (index > (this.counts.get(COUNT) ?? 0)) this.counts.load(COUNT, index)
  }

  /** The number that the next loan gets. */
  nextIndex(): number {
    return (this.counts.get(COUNT) ?? 0) + 1
  }

  create(creator: Address, borrower: Address, terms: LoanTerms): number {
    const index = this.nextIndex()
    this.counts.set(COUNT, index)
    const loan = { terms, borrower, creator, status: LOAN_STATUS.initial, lender: ZERO_ADDRESS }
    this.loans.set(String(index), { ...loan, paidWei: 0n, lentAtS: 0 })
    this.log([TOPIC.createdLoan], uint(index), address(borrower), address(creator))
    this.log([TOPIC.approvedBy], uint(index), address(borrower))
    return index
  }

  /** Lends the money of a loan, or of a mortgage: its manager then does its part before the loan is logged. */
  lend(lender: Address, index: number, manager: MortgageManager | undefined): void {
    const loan = this.get(index)
    const isOpen = loan.status === LOAN_STATUS.initial && BigInt(this.machine.timeS) < loan.terms.expiresAt
    require(isOpen, 'the request is not open')
    this.put(index, { ...loan, lender, status: LOAN_STATUS.lent, lentAtS: this.machine.timeS })
    this.logTransfer(ZERO_ADDRESS, lender, index)
    this.currency.transfer(lender, loan.borrower, loan.terms.amountWei)
    manager?.start(index)
    this.log([TOPIC.lent], uint(index), address(lender), address(manager?.address ?? ZERO_ADDRESS))
  }

  /** Pays a part, or the rest where more is offered. */
  pay(payer: Address, index: number, amountWei: bigint): void {
    const loan = this.get(index)
    require(loan.status === LOAN_STATUS.lent, 'the loan is not lent')
    const pendingWei = this.pendingWei(loan, this.machine.timeS)
    const paidWei = amountWei < pendingWei ? amountWei : pendingWei
    this.currency.transfer(payer, this.address, paidWei)
    this.log([TOPIC.partialPayment], uint(index), address(payer), address(payer), uint(paidWei))
    const isDone = paidWei === pendingWei
    const status = isDone ? LOAN_STATUS.paid : loan.status
    this.put(index, { ...loan, paidWei: loan.paidWei + paidWei, status })
    if (!isDone) return
    this.log([TOPIC.totalPayment], uint(index))
    this.logTransfer(loan.lender, ZERO_ADDRESS, index)
  }

  /** The lender sells the loan. */
  sell(from: Address, to: Address, index: number): void {
    const loan = this.get(index)
    require(loan.lender === from && to !== from && to !== ZERO_ADDRESS, 'not the lender')
    this.put(index, { ...loan, lender: to })
    this.logTransfer(from, to, index)
  }

  /** The lender forgives the debt, or the borrower takes the request back. The last lender is kept. */
  destroy(caller: Address, index: number): void {
    const loan = this.get(index)
    const isLent = loan.status === LOAN_STATUS.lent
    const isByBorrower = loan.status === LOAN_STATUS.initial && caller === loan.borrower
    require(isByBorrower || (isLent && caller === loan.lender), 'not authorized')
    this.put(index, { ...loan, status: LOAN_STATUS.destroyed })
    this.log([TOPIC.destroyedBy], uint(index), address(caller))
    if (isLent) this.logTransfer(loan.lender, ZERO_ADDRESS, index)
  }

  get(index: number, at?: number): Loan {
    const loan = this.loans.get(String(index), at)
    require(loan !== undefined, 'there is no such loan')
    return loan
  }

  /** What is still to be paid at a time: amount and interest, without what was paid. */
  pendingWei({ terms, status, lentAtS, paidWei }: Loan, timeS: number): bigint {
    if (status !== LOAN_STATUS.lent) return 0n
    const elapsedS = BigInt(Math.max(0, timeS - lentAtS))
    const chargedS = elapsedS > terms.cancelableAtS ? elapsedS : terms.cancelableAtS
    const interestWei =
      terms.interestRate === 0n ? 0n : (RATE_UNIT * terms.amountWei * chargedS) / terms.interestRate
    const wei = terms.amountWei + interestWei - paidWei
    return wei > 0n ? wei : 0n
  }

  dueTimeS({ lentAtS, terms }: Loan): bigint {
    return lentAtS === 0 ? 0n : BigInt(lentAtS) + terms.duesInS
  }

  private put(index: number, loan: Loan): void {
    this.loans.set(String(index), loan)
  }

  private logTransfer(from: Address, to: Address, index: number): void {
    this.log([TOPIC.transfer, addressWord(from), addressWord(to)], uint(index))
  }
}

export const MORTGAGE_STATUS = { pending: 0, ongoing: 1, canceled: 2, paid: 3, defaulted: 4 } as const

export interface Mortgage {
  readonly owner: Address
  readonly loanId: number
  readonly landId: Word
  readonly depositWei: bigint
  readonly landCostWei: bigint
  readonly status: number
}

/** Buys parcels with a loan, and keeps them until it is paid. */
export class MortgageManager extends Contract {
  /** Keys are the numbers of the mortgages. */
  readonly mortgages: Cells<Mortgage>
  /** The number of the mortgage of a loan. */
  readonly mortgageOfLoan: Cells<number>
  private readonly counts: Cells<number>
  readonly engine: LoanEngine
  readonly market: Marketplace
  private readonly land: LandRegistry
  private readonly currency: Currency

  constructor(
    machine: Machine,
    self: Address,
    parts: { engine: LoanEngine; market: Marketplace; land: LandRegistry; currency: Currency },
  ) {
    super(machine, self)
    this.mortgages = new Cells(machine.history)
    this.mortgageOfLoan = new Cells(machine.history)
    this.counts = new Cells(machine.history)
    this.engine = parts.engine
    this.market = parts.market
    this.land = parts.land
    this.currency = parts.currency
  }

  /** Stores a mortgage that was there before the first transaction. */
  loadMortgage(id: number, mortgage: Mortgage): void {
    this.mortgages.load(String(id), mortgage)
    this.mortgageOfLoan.load(String(mortgage.loanId), id)
    if (id > (this.counts.get(COUNT) ?? 0)) this.counts.load(COUNT, id)
  }

  request(borrower: Address, landId: Word, loanId: number, depositWei: bigint): number {
    const order = this.market.order(this.land.address, landId)
    const loan = this.engine.get(loanId)
    require(order !== undefined && loan.borrower === borrower, 'the parcel is not for sale')
    require(loan.terms.amountWei + depositWei >= order.priceWei, 'not enough money')
    const id = (this.counts.get(COUNT) ?? 0) + 1
    this.counts.set(COUNT, id)
    this.currency.transfer(borrower, this.address, depositWei)
    const status = MORTGAGE_STATUS.pending
    const mortgage = { owner: borrower, loanId, landId, depositWei, landCostWei: order.priceWei, status }
    this.mortgages.set(String(id), mortgage)
    this.mortgageOfLoan.set(String(loanId), id)
    const { engine, market, currency } = this
    this.log(
      [TOPIC.requestedMortgage],
      ...[uint(id), address(borrower), address(engine.address), uint(loanId), address(market.address)],
      ...[bytes32(landId), uint(depositWei), address(currency.address)],
    )
    return id
  }

  cancel(caller: Address, id: number): void {
    const mortgage = this.get(id)
    const isOpen = mortgage.status === MORTGAGE_STATUS.pending && mortgage.owner === caller
    require(isOpen, 'not authorized')
    this.mortgages.set(String(id), { ...mortgage, status: MORTGAGE_STATUS.canceled })
    this.currency.transfer(this.address, caller, mortgage.depositWei)
    this.log([TOPIC.canceledMortgage], address(caller), uint(id))
  }

  /** Called by the engine when the loan is lent: buys the parcel. */
  start(loanId: number): void {
    const id = this.mortgageOfLoan.get(String(loanId))
    require(id !== undefined, 'there is no mortgage of this loan')
    const mortgage = this.get(id)
    const order = this.market.order(this.land.address, mortgage.landId)
    const { amountWei } = this.engine.get(loanId).terms
    require(mortgage.status === MORTGAGE_STATUS.pending && order !== undefined, 'the parcel is not for sale')
    require(amountWei + mortgage.depositWei >= order.priceWei, 'not enough money')
    this.log([TOPIC.transfer, addressWord(ZERO_ADDRESS), addressWord(mortgage.owner)], uint(id))
    this.currency.transfer(mortgage.owner, this.address, amountWei)
    this.log([TOPIC.readedOracle], address(this.engine.address), bytes32(MANA), uint(DECIMALS), uint(ONE_WEI))
    const { priceWei } = order
    this.market.execute(this.address, this.land, mortgage.landId, priceWei, true)
    this.land.setUpdateOperator(this.address, mortgage.landId, mortgage.owner)
    this.mortgages.set(String(id), {
      ...mortgage,
      status: MORTGAGE_STATUS.ongoing,
      landCostWei: priceWei,
    })
    this.log([TOPIC.startedMortgage], uint(id))
  }

  /** Hands out the parcel: to the borrower when the loan is paid or pardoned, to the lender when it is a week late. */
  claim(caller: Address, id: number): void {
    const mortgage = this.get(id)
    const loan = this.engine.get(mortgage.loanId)
    require(mortgage.status === MORTGAGE_STATUS.ongoing, 'the mortgage does not run')
    const isPaid = loan.status === LOAN_STATUS.paid || loan.status === LOAN_STATUS.destroyed
    const isLate = BigInt(this.machine.timeS - WEEK_S) > this.engine.dueTimeS(loan)
    require(isPaid ? caller === mortgage.owner : isLate && caller === loan.lender, 'nothing to claim')
    const status = isPaid ? MORTGAGE_STATUS.paid : MORTGAGE_STATUS.defaulted
    this.mortgages.set(String(id), { ...mortgage, status })
    this.land.transferFrom(this.address, this.address, caller, mortgage.landId)
    if (isPaid) this.log([TOPIC.paidMortgage], address(caller), uint(id))
    else this.log([TOPIC.defaultedMortgage], uint(id))
    this.log([TOPIC.transfer, addressWord(mortgage.owner), addressWord(ZERO_ADDRESS)], uint(id))
  }

  /** The borrower writes the text of the parcel. This contract's own log names the mortgage, not the parcel. */
  describe(caller: Address, id: number, text: Uint8Array): void {
    const mortgage = this.get(id)
    require(mortgage.status === MORTGAGE_STATUS.ongoing && mortgage.owner === caller, 'not authorized')
    this.land.describe(this.address, mortgage.landId, text)
    this.log([TOPIC.updatedLandData], address(caller), uint(id), bytes(text))
  }

  get(id: number, at?: number): Mortgage {
    const mortgage = this.mortgages.get(String(id), at)
    require(mortgage !== undefined, 'there is no such mortgage')
    return mortgage
  }
}

/** Makes the loan and the mortgage in one transaction, as the web application did. */
export class MortgageHelper extends Contract {
  private readonly manager: MortgageManager

  constructor(machine: Machine, self: Address, manager: MortgageManager) {
    super(machine, self)
    this.manager = manager
  }

  request(borrower: Address, landId: Word, terms: LoanTerms, depositWei: bigint): void {
    const loanId = this.manager.engine.create(this.address, borrower, terms)
    const id = this.manager.request(borrower, landId, loanId, depositWei)
    this.log([TOPIC.newMortgage], address(borrower), uint(loanId), bytes32(landId), uint(id))
  }
}
