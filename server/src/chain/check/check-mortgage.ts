import { coordText, decodeTokenId } from '@landpass/client/grid'
import { deadlineMs, manaText, safeInteger, weiOf } from '../../land/events/amounts.ts'
import type { CheckedMortgage } from '../../land/queries/checked-land.ts'
import { nobodyIfZero } from '../meaning/addresses.ts'
import type { CheckContext } from './check-context.ts'
import { FUNCTIONS } from './contract-functions.ts'

/** As the manager of mortgages counts them. */
const MANAGER_STATUSES = ['pending', 'ongoing', 'cancelled', 'claimed', 'defaulted'] as const
const ONGOING = 1n
/** States of a loan: paid, or pardoned by its lender. */
const SETTLED: readonly bigint[] = [2n, 3n]

/** Compares a mortgage and its loan. What is owed grows with time and is not compared. */
export async function checkMortgage(context: CheckContext, row: CheckedMortgage): Promise<void> {
  const { network, state, findings } = context
  const manager = network.contracts.MortgageManager?.address
  if (manager === undefined) return findings.skip('mortgage')
  const asset = `mortgage ${row.mortgage_id}`
  const found = await state.tryToRead(manager, FUNCTIONS.mortgages, BigInt(row.mortgage_id))
  if (!found || nobodyIfZero(found.owner) === null) {
    findings.compare({ asset, field: 'mortgage_id' }, { table: row.mortgage_id, contract: null })
    return
  }
  const coord = decodeTokenId(found.landId)
  const compare = (field: keyof CheckedMortgage, contract: string | number | bigint | null) =>
    findings.compare({ asset, field }, { table: row[field], contract })
  compare('borrower', found.owner)
  compare('loan_id', found.loanId)
  compare('asset_id', coord ? coordText(coord) : String(found.landId))
  const engine = network.contracts.RCNEngine?.address
  const isKnownEngine = engine !== undefined && found.engine === engine
  const loan = isKnownEngine ? await readLoan(context, engine, found.loanId) : undefined
  if (!loan) {
    // Without its loan an ongoing mortgage may have been paid.
    const status = MANAGER_STATUSES[Number(found.status)] ?? String(found.status)
    compare('status', row.status === 'paid' && found.status === ONGOING ? 'paid' : status)
    return findings.skip('loan')
  }
  compare('status', statusOf(found.status, loan.status))
  findings.compare(
    { asset, field: 'paid' },
    { table: manaText(weiOf(row.paid)), contract: manaText(loan.paid) },
  )
  const hasStarted = row.status !== 'pending' && row.status !== 'cancelled'
  compare('lender', hasStarted ? nobodyIfZero(loan.lender) : null)
  if (row.due_in_s === null) return findings.skip('loan') // A snapshot without the terms of the loan.
  const amount = { table: manaText(weiOf(row.amount)), contract: manaText(loan.amount) }
  findings.compare({ asset, field: 'amount' }, amount)
  compare('interest_rate', safeInteger(loan.interestRate))
  compare('punitory_interest_rate', safeInteger(loan.punitoryInterestRate))
  compare('due_in_s', safeInteger(loan.duesIn))
  compare('payable_at_s', safeInteger(loan.cancelableAt))
  compare('expires_at_ms', deadlineMs(loan.expiration))
  compare('is_due_at_s', hasStarted ? safeInteger(loan.dueTime) : 0)
}

/**
 * Looks for mortgages that the manager has and the tables do not: it gives numbers in their order, so those up to the
 * largest one and the next one are asked for.
 */
export async function findMissingMortgages(
  { network, state, findings }: CheckContext,
  rows: readonly CheckedMortgage[],
): Promise<void> {
  const manager = network.contracts.MortgageManager?.address
  if (manager === undefined) return
  const known = new Set(rows.map(({ mortgage_id }) => mortgage_id))
  const last = Math.min(Math.max(0, ...known) + 1, MOST_MORTGAGES)
  const missing = Array.from({ length: last + 1 }, (_, id) => id).filter((id) => !known.has(id))
  await Promise.all(
    missing.map(async (id) => {
      const found = await state.tryToRead(manager, FUNCTIONS.mortgages, BigInt(id))
      if (found && nobodyIfZero(found.owner) !== null)
        findings.compare({ asset: `mortgage ${id}`, field: 'mortgage_id' }, { table: null, contract: id })
    }),
  )
}

/** There were some hundred. */
const MOST_MORTGAGES = 100_000

/** The manager does not know that a loan was paid until its parcel is claimed. */
function statusOf(managerStatus: bigint, loanStatus: bigint): string {
  if (managerStatus === ONGOING && SETTLED.includes(loanStatus)) return 'paid'
  return MANAGER_STATUSES[Number(managerStatus)] ?? String(managerStatus)
}

/** The numbers of a loan that are compared. */
const LOAN = {
  status: FUNCTIONS.getStatus,
  paid: FUNCTIONS.getPaid,
  amount: FUNCTIONS.getAmount,
  interestRate: FUNCTIONS.getInterestRate,
  punitoryInterestRate: FUNCTIONS.getInterestRatePunitory,
  duesIn: FUNCTIONS.getDuesIn,
  cancelableAt: FUNCTIONS.getCancelableAt,
  expiration: FUNCTIONS.getExpirationRequest,
  dueTime: FUNCTIONS.getDueTime,
} as const

/** Undefined where the engine does not answer for all of it. */
async function readLoan({ state }: CheckContext, engine: string, loanId: bigint) {
  const names = Object.keys(LOAN) as (keyof typeof LOAN)[]
  const [lender, ...numbers] = await Promise.all([
    state.tryToRead(engine, FUNCTIONS.ownerOf, loanId),
    ...names.map((name) => state.tryToRead(engine, LOAN[name], loanId)),
  ])
  if (lender === undefined || numbers.includes(undefined)) return undefined
  const loan = Object.fromEntries(names.map((name, at) => [name, numbers[at]]))
  return { lender, ...(loan as Record<keyof typeof LOAN, bigint>) }
}
