import { nobodyIfZero } from './addresses.ts'
import { parcelOf } from './assets.ts'
import type { Meanings } from './meaning.ts'

/**
 * What the manager of mortgages and the contract of their loans log. The latter has loans for other purposes too, so
 * what is said of a loan counts only where a mortgage has its number.
 */
export const MORTGAGE_FACTS: Meanings<
  | 'RequestedMortgage'
  | 'StartedMortgage'
  | 'CanceledMortgage'
  | 'PaidMortgage'
  | 'DefaultedMortgage'
  | 'LoanTransfer'
  | 'Lent'
  | 'PartialPayment'
  | 'TotalPayment'
  | 'DestroyedBy'
> = {
  RequestedMortgage({ id, borrower, engine, loanId, landId }, { network }) {
    const known = network.contracts.RCNEngine?.address
    // The same number is another loan in another contract.
    if (known !== undefined && engine !== known) return []
    return [{ kind: 'mortgage-requested', mortgageId: id, loanId, borrower, parcel: parcelOf(landId) }]
  },
  StartedMortgage: ({ id }) => [{ kind: 'mortgage-started', mortgageId: id }],
  CanceledMortgage: ({ id }) => [{ kind: 'mortgage-cancelled', mortgageId: id }],
  // The borrower, who had paid the loan before, took the parcel.
  PaidMortgage: ({ id }) => [{ kind: 'mortgage-claimed', mortgageId: id }],
  DefaultedMortgage: ({ id }) => [{ kind: 'mortgage-defaulted', mortgageId: id }],
  LoanTransfer: ({ loanId, to }) => [{ kind: 'loan-transferred', loanId, to: nobodyIfZero(to) }],
  Lent: ({ loanId, lender }) => [{ kind: 'loan-lent', loanId, lender }],
  PartialPayment: ({ loanId, amount }) => [{ kind: 'loan-partly-paid', loanId, amountWei: amount }],
  TotalPayment: ({ loanId }) => [{ kind: 'loan-paid', loanId }],
  DestroyedBy: ({ loanId }) => [{ kind: 'loan-pardoned', loanId }],
}
