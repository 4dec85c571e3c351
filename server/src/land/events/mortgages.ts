import { coordText } from '@landpass/client/grid'
import { SECOND_MS } from '../../clock.ts'
import { deadlineMs, manaText, safeInteger, weiOf } from './amounts.ts'
import type { Awaitable, MortgageRow } from './land-rows.ts'
import { parcelAt } from './new-rows.ts'
import type { Fact, Step } from './rule-context.ts'

/**
 * The life of a mortgage. Its loan has a number of its own, in another contract:
 *
 *   pending ──started, lent──▶ ongoing ──paid or pardoned──▶ paid ──claimed──▶ claimed (the borrower has the parcel)
 *      └──cancelled──▶ cancelled       └──defaulted──▶ defaulted (the lender has the parcel)
 *
 * Loans that no mortgage names are not ours, and neither are numbers beyond 2^53 - 1.
 */

/** Its terms are unknown until `loan-terms-read`. */
export async function requestMortgage(step: Step, fact: Fact<'mortgage-requested'>): Promise<void> {
  const { rows, at } = step
  const mortgageId = columnNumber(fact.mortgageId)
  const loanId = columnNumber(fact.loanId)
  if (mortgageId === undefined || loanId === undefined) return
  // The helper logs the same mortgage again, after the manager.
  if (await rows.mortgage({ mortgageId })) return
  await parcelAt(step, fact.parcel)
  rows.put('mortgage', {
    key: await rows.nextKey('mortgage'),
    tx_hash: at.txHash,
    tx_status: 'confirmed',
    block_number: at.blockNumber,
    log_index: at.logIndex,
    status: 'pending',
    asset_id: coordText(fact.parcel),
    asset_type: 'parcel',
    borrower: fact.borrower,
    lender: null,
    loan_id: loanId,
    mortgage_id: mortgageId,
    amount: '0',
    is_due_at_s: 0,
    due_in_s: null,
    expires_at_ms: 0,
    block_time_created_at_ms: at.timeMs,
    block_time_updated_at_ms: null,
    created_at_ms: at.timeMs,
    updated_at_ms: at.timeMs,
    outstanding_amount: '0',
    payable_at_s: 0,
    interest_rate: 0,
    punitory_interest_rate: 0,
    paid: '0',
    started_at_ms: null,
  })
}

/** The parcel was bought with the loan, which is lent in the same transaction. */
export async function startMortgage(step: Step, { mortgageId }: Fact<'mortgage-started'>): Promise<void> {
  const mortgage = await mortgageOf(step, mortgageId)
  if (mortgage?.status === 'pending')
    put(step, { ...mortgage, status: 'ongoing', started_at_ms: step.at.timeMs })
}

export async function cancelMortgage(step: Step, { mortgageId }: Fact<'mortgage-cancelled'>): Promise<void> {
  const mortgage = await mortgageOf(step, mortgageId)
  if (mortgage?.status === 'pending') put(step, { ...mortgage, status: 'cancelled' })
}

/** The borrower has the parcel. */
export async function claimMortgage(step: Step, { mortgageId }: Fact<'mortgage-claimed'>): Promise<void> {
  const mortgage = await mortgageOf(step, mortgageId)
  if (mortgage) put(step, { ...mortgage, status: 'claimed' })
}

/** The lender has the parcel. What the borrower owes stays as it was then. */
export async function defaultMortgage(step: Step, { mortgageId }: Fact<'mortgage-defaulted'>): Promise<void> {
  const mortgage = await mortgageOf(step, mortgageId)
  if (mortgage) put(step, { ...mortgage, status: 'defaulted' })
}

/** Terms never change: reading them again changes nothing. */
export async function readLoanTerms(step: Step, { loanId, terms }: Fact<'loan-terms-read'>): Promise<void> {
  const mortgage = await mortgageWith(step, loanId)
  if (!mortgage || mortgage.due_in_s !== null) return
  const withTerms: MortgageRow = {
    ...mortgage,
    amount: manaText(terms.amountWei),
    interest_rate: safeInteger(terms.interestRate),
    punitory_interest_rate: safeInteger(terms.punitoryInterestRate),
    due_in_s: safeInteger(terms.duesInS),
    payable_at_s: safeInteger(terms.cancelableAtS),
    expires_at_ms: deadlineMs(terms.expiresAt),
  }
  step.rows.put('mortgage', withDebt(withTerms, step.at.timeMs))
}

export async function lendLoan(step: Step, { loanId, lender }: Fact<'loan-lent'>): Promise<void> {
  await changeLender(step, loanId, lender)
}

/** Loans are tokens, and the holder is the lender. A loan that is gone keeps its last lender. */
export async function transferLoan(step: Step, { loanId, to }: Fact<'loan-transferred'>): Promise<void> {
  if (to !== null) await changeLender(step, loanId, to)
}

/** A loan may be lent and paid without its mortgage, which then never starts: such payments are not about the parcel. */
export async function payPart(step: Step, { loanId, amountWei }: Fact<'loan-partly-paid'>): Promise<void> {
  const mortgage = await mortgageWith(step, loanId)
  if (mortgage && hasStarted(mortgage))
    put(step, { ...mortgage, paid: manaText(weiOf(mortgage.paid) + amountWei) })
}

/** A loan that is pardoned before it was lent leaves its mortgage pending: only a cancellation ends that. */
export async function settleLoan(
  step: Step,
  { loanId }: Pick<Fact<'loan-paid' | 'loan-pardoned'>, 'loanId'>,
): Promise<void> {
  const mortgage = await mortgageWith(step, loanId)
  if (mortgage?.status === 'ongoing') put(step, { ...mortgage, status: 'paid' })
}

async function changeLender(step: Step, loanId: bigint, lender: string): Promise<void> {
  const mortgage = await mortgageWith(step, loanId)
  if (mortgage && hasStarted(mortgage) && mortgage.lender !== lender) put(step, { ...mortgage, lender })
}

function hasStarted({ status }: MortgageRow): boolean {
  return status !== 'pending' && status !== 'cancelled'
}

function mortgageOf({ rows }: Step, mortgageId: bigint): Awaitable<MortgageRow | undefined> {
  const id = columnNumber(mortgageId)
  return id === undefined ? undefined : rows.mortgage({ mortgageId: id })
}

function mortgageWith({ rows }: Step, loanId: bigint): Awaitable<MortgageRow | undefined> {
  const id = columnNumber(loanId)
  return id === undefined ? undefined : rows.mortgage({ loanId: id })
}

/** Undefined for a number that no row can have: a query for it would fail from 2^63 on, and find a rounded one before. */
function columnNumber(id: bigint): number | undefined {
  return id <= Number.MAX_SAFE_INTEGER ? Number(id) : undefined
}

function put({ rows, at }: Step, mortgage: MortgageRow): void {
  const changed = { ...mortgage, block_time_updated_at_ms: at.timeMs, updated_at_ms: at.timeMs }
  rows.put('mortgage', withDebt(changed, at.timeMs))
}

/** With the columns that follow from others. What is owed grows with time: the column has it as of the last event. */
function withDebt(mortgage: MortgageRow, nowMs: number): MortgageRow {
  const { started_at_ms, due_in_s, status } = mortgage
  if (started_at_ms === null) return mortgage
  const startedS = Math.floor(started_at_ms / SECOND_MS)
  const dueS = Math.min(startedS + (due_in_s ?? 0), Number.MAX_SAFE_INTEGER)
  const owes = status === 'ongoing' || status === 'defaulted'
  const elapsed = { nowS: Math.floor(nowMs / SECOND_MS), startedS, dueS }
  return {
    ...mortgage,
    is_due_at_s: dueS,
    outstanding_amount: owes ? manaText(owedWei(mortgage, elapsed)) : '0',
  }
}

/**
 * Amount and interest without what was paid (chain-facts, section 10): 100000 · amount · seconds / rate until the loan is
 * due, and at the punitory rate of the whole debt afterwards. The contract lowers the interest with each payment, so that
 * this is an upper bound where parts were paid.
 */
function owedWei(
  mortgage: MortgageRow,
  { nowS, startedS, dueS }: { nowS: number; startedS: number; dueS: number },
): bigint {
  const amount = weiOf(mortgage.amount)
  const debt = amount + interestWei(amount, Math.min(nowS, dueS) - startedS, mortgage.interest_rate)
  const late = interestWei(debt, Math.max(nowS - dueS, 0), mortgage.punitory_interest_rate)
  const owed = debt + late - weiOf(mortgage.paid)
  return owed > 0n ? owed : 0n
}

function interestWei(wei: bigint, seconds: number, rate: number): bigint {
  return rate === 0 ? 0n : (100_000n * wei * BigInt(seconds)) / BigInt(rate)
}
