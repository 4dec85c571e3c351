import type { Order } from '../contracts/marketplaces.ts'
import { LOAN_STATUS, type LoanTerms, MORTGAGE_STATUS, type Mortgage } from '../contracts/mortgages.ts'
import { callOf, draftOf } from '../contracts/transactions.ts'
import { MAX_UINT256 } from '../encoding/words.ts'
import type { Action, Scene, Stored } from './scene.ts'
import { drawText } from './texts.ts'

const DAY_S = 86_400
/** A fifth of the amount in a year: interest is 100,000 times amount times seconds, divided by this. */
const RATE = 15_768_000_000_000n

/** Asks for a loan for a parcel that is for sale: with the helper as the web application does, or without. */
export const requestMortgage: Action = (scene) => {
  const { market, land, mortgages, mortgageHelper, engine } = scene.contracts
  if (!hasMortgages(scene)) return undefined
  const isGood = ({ token, id, value }: Stored<Order>) =>
    token === land && value.expiresAt > BigInt(scene.timeS) && land.ownerOf(id) === value.seller
  const found = scene.stored(market.orders, isGood)
  if (!found) return undefined
  const { id, value: order } = found
  const borrower = scene.other(order.seller)
  const amountWei = (order.priceWei * BigInt(scene.random.between(30, 90))) / 100n
  const terms = drawTerms(scene, amountWei)
  const depositWei = order.priceWei - amountWei
  if (scene.random.chance(70)) {
    return [draftOf(borrower, mortgageHelper, 'request', borrower, id, terms, depositWei)]
  }
  const calls = [
    callOf(engine, 'create', borrower, borrower, terms),
    callOf(mortgages, 'request', borrower, id, engine.nextIndex(), depositWei),
  ]
  return [{ from: borrower, to: borrower, calls }]
}

/** A loan that is no mortgage: the engine serves anybody. */
export const requestOtherLoan: Action = (scene) => {
  const { engine } = scene.contracts
  if (!hasMortgages(scene)) return undefined
  const borrower = scene.player()
  const terms = drawTerms(scene, scene.price())
  return [draftOf(borrower, engine, 'create', borrower, borrower, terms)]
}

export const cancelMortgage: Action = (scene) => {
  const { mortgages } = scene.contracts
  const found = someMortgage(scene, ({ status }) => status === MORTGAGE_STATUS.pending)
  if (!found) return undefined
  const { owner } = found.mortgage
  return [draftOf(owner, mortgages, 'cancel', owner, found.id)]
}

/** The transaction fails if the parcel is not for sale any more. */
export const lend: Action = (scene) => {
  const { engine, mortgages, market, land } = scene.contracts
  const mayFail = scene.random.chance(2)
  const isForSale = ({ landId, status }: Mortgage) => {
    const order = market.order(land.address, landId)
    const isOwned = order !== undefined && land.ownerOf(landId) === order.seller
    return status === MORTGAGE_STATUS.pending && (isOwned || mayFail)
  }
  const found = someMortgage(scene, isForSale)
  if (!found) return undefined
  const { owner, loanId } = found.mortgage
  const lender = scene.other(owner)
  return [draftOf(lender, engine, 'lend', lender, loanId, mortgages)]
}

export const payLoan: Action = (scene) => {
  const { engine } = scene.contracts
  const found = someMortgage(scene, ({ loanId }) => engine.get(loanId).status === LOAN_STATUS.lent)
  if (!found) return undefined
  const { owner, loanId } = found.mortgage
  const pendingWei = engine.pendingWei(engine.get(loanId), scene.timeS)
  const wei = scene.random.chance(50) ? pendingWei + 10n ** 18n : pendingWei / 3n + 1n
  return [draftOf(owner, engine, 'pay', owner, loanId, wei)]
}

/** The lender sells the loan, or forgives the debt. */
export const changeLender: Action = (scene) => {
  const { engine } = scene.contracts
  const found = someMortgage(scene, ({ loanId }) => engine.get(loanId).status === LOAN_STATUS.lent)
  if (!found) return undefined
  const { loanId } = found.mortgage
  const { lender } = engine.get(loanId)
  const to = scene.other(lender)
  return scene.random.chance(60)
    ? [draftOf(lender, engine, 'sell', lender, to, loanId)]
    : [draftOf(lender, engine, 'destroy', lender, loanId)]
}

/** The borrower builds on the parcel: LAND logs it, with the manager as owner. */
export const describeMortgaged: Action = (scene) => {
  const { mortgages } = scene.contracts
  const found = someMortgage(scene, ({ status }) => status === MORTGAGE_STATUS.ongoing)
  if (!found) return undefined
  const { owner } = found.mortgage
  const text = drawText(scene.random)
  return [draftOf(owner, mortgages, 'describe', owner, found.id, text)]
}

/** The borrower claims what is paid or pardoned; the lender what is long overdue. */
export const claimMortgage: Action = (scene) => {
  const { engine, mortgages } = scene.contracts
  const found = someMortgage(scene, ({ status }) => status === MORTGAGE_STATUS.ongoing)
  if (!found) return undefined
  const loan = engine.get(found.mortgage.loanId)
  const isLent = loan.status === LOAN_STATUS.lent
  if (isLent && BigInt(scene.timeS - 8 * DAY_S) < engine.dueTimeS(loan)) return undefined
  const caller = isLent ? loan.lender : found.mortgage.owner
  return [draftOf(caller, mortgages, 'claim', caller, found.id)]
}

function someMortgage(
  scene: Scene,
  condition: (mortgage: Mortgage) => boolean,
): { readonly id: number; readonly mortgage: Mortgage } | undefined {
  const { mortgages } = scene.contracts.mortgages
  return scene.find(mortgages.keys, (key) => {
    const mortgage = mortgages.get(key)
    return mortgage && condition(mortgage) ? { id: Number(key), mortgage } : undefined
  })
}

function drawTerms(scene: Scene, amountWei: bigint): LoanTerms {
  const { random, timeS } = scene
  const atS = BigInt(timeS + 30 * DAY_S)
  const expiresAt = random.chance(10) ? MAX_UINT256 : random.chance(70) ? atS * 1_000n : atS
  const rates = { interestRate: RATE, punitoryInterestRate: RATE / 2n }
  const duesInS = BigInt(random.between(1, 200) * DAY_S)
  return { amountWei, ...rates, duesInS, cancelableAtS: duesInS / 4n, expiresAt }
}

function hasMortgages({ machine }: Scene): boolean {
  return machine.isSince(machine.eras.mortgages)
}
