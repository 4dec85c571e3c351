import { LOAN_STATUS, type LoanTerms, MORTGAGE_STATUS, type Mortgage } from '../contracts/mortgages.ts'
import { MAX_UINT256 } from '../encoding/words.ts'
import type { Action, Scene } from './scene.ts'
import { drawText } from './texts.ts'

const DAY_S = 86_400
/** A fifth of the amount in a year: interest is 100,000 times amount times seconds, divided by this. */
const RATE = 15_768_000_000_000n

/** Asks for a loan for a parcel that is for sale: with the helper as the web application does, or without. */
export const requestMortgage: Action = (scene) => {
  const { market, land, mortgages, mortgageHelper, engine } = scene.contracts
  if (!hasMortgages(scene)) return undefined
  const found = scene.dice.find(
    land.owners.keys,
    (id) => {
      const order = market.order(land.address, id)
      return order && order.expiresAt > BigInt(scene.timeS) && scene.owns(order.seller, land, id)
        ? { id, order }
        : undefined
    },
    60,
  )
  if (!found) return undefined
  const { id, order } = found
  const borrower = scene.other(order.seller)
  const amountWei = (order.priceWei * BigInt(scene.dice.whole(30, 90))) / 100n
  const terms = drawTerms(scene, amountWei)
  const depositWei = order.priceWei - amountWei
  if (scene.dice.chance(0.7)) {
    const run = () => mortgageHelper.request(borrower, id, terms, depositWei)
    return [{ from: borrower, to: mortgageHelper.address, run }]
  }
  const run = () => {
    mortgages.request(borrower, id, engine.create(borrower, borrower, terms), depositWei)
  }
  return [{ from: borrower, to: borrower, run }]
}

/** A loan that is no mortgage: the engine serves anybody. */
export const requestOtherLoan: Action = (scene) => {
  const { engine } = scene.contracts
  if (!hasMortgages(scene)) return undefined
  const borrower = scene.player()
  const terms = drawTerms(scene, scene.price())
  return [{ from: borrower, to: engine.address, run: () => void engine.create(borrower, borrower, terms) }]
}

export const cancelMortgage: Action = (scene) => {
  const { mortgages } = scene.contracts
  const found = someMortgage(scene, ({ status }) => status === MORTGAGE_STATUS.pending)
  if (!found) return undefined
  const { owner } = found.mortgage
  return [{ from: owner, to: mortgages.address, run: () => mortgages.cancel(owner, found.id) }]
}

/** The transaction fails if the parcel is not for sale any more. */
export const lend: Action = (scene) => {
  const { engine, mortgages, market, land } = scene.contracts
  const isForSale = ({ landId, status }: Mortgage) => {
    const order = market.order(land.address, landId)
    const isOwned = order !== undefined && scene.owns(order.seller, land, landId)
    return status === MORTGAGE_STATUS.pending && (isOwned || scene.dice.chance(0.02))
  }
  const found = someMortgage(scene, isForSale)
  if (!found) return undefined
  const { owner, loanId } = found.mortgage
  const lender = scene.other(owner)
  return [{ from: lender, to: engine.address, run: () => engine.lend(lender, loanId, mortgages) }]
}

export const payLoan: Action = (scene) => {
  const { engine } = scene.contracts
  const found = someMortgage(scene, ({ loanId }) => engine.get(loanId).status === LOAN_STATUS.lent)
  if (!found) return undefined
  const { owner, loanId } = found.mortgage
  const pendingWei = engine.pendingWei(engine.get(loanId), scene.timeS)
  const wei = scene.dice.chance(0.5) ? pendingWei + 10n ** 18n : pendingWei / 3n + 1n
  return [{ from: owner, to: engine.address, run: () => engine.pay(owner, loanId, wei) }]
}

/** The lender sells the loan, or forgives the debt. */
export const changeLender: Action = (scene) => {
  const { engine } = scene.contracts
  const found = someMortgage(scene, ({ loanId }) => engine.get(loanId).status === LOAN_STATUS.lent)
  if (!found) return undefined
  const { loanId } = found.mortgage
  const { lender } = engine.get(loanId)
  const to = scene.other(lender)
  const run = scene.dice.chance(0.6)
    ? () => engine.sell(lender, to, loanId)
    : () => engine.destroy(lender, loanId)
  return [{ from: lender, to: engine.address, run }]
}

/** The borrower builds on the parcel: LAND logs it, with the manager as owner. */
export const describeMortgaged: Action = (scene) => {
  const { mortgages } = scene.contracts
  const found = someMortgage(scene, ({ status }) => status === MORTGAGE_STATUS.ongoing)
  if (!found) return undefined
  const { owner } = found.mortgage
  const text = drawText(scene.dice)
  return [{ from: owner, to: mortgages.address, run: () => mortgages.describe(owner, found.id, text) }]
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
  return [{ from: caller, to: mortgages.address, run: () => mortgages.claim(caller, found.id) }]
}

function someMortgage(
  scene: Scene,
  condition: (mortgage: Mortgage) => boolean,
): { readonly id: number; readonly mortgage: Mortgage } | undefined {
  const { mortgages } = scene.contracts.mortgages
  return scene.dice.find(mortgages.keys, (key) => {
    const mortgage = mortgages.get(key)
    return mortgage && condition(mortgage) ? { id: Number(key), mortgage } : undefined
  })
}

function drawTerms(scene: Scene, amountWei: bigint): LoanTerms {
  const { dice, timeS } = scene
  const atS = BigInt(timeS + 30 * DAY_S)
  const expiresAt = dice.chance(0.1) ? MAX_UINT256 : dice.chance(0.7) ? atS * 1_000n : atS
  const rates = { interestRate: RATE, punitoryInterestRate: RATE / 2n }
  const duesInS = BigInt(dice.whole(1, 200) * DAY_S)
  return { amountWei, ...rates, duesInS, cancelableAtS: duesInS / 4n, expiresAt }
}

function hasMortgages({ machine }: Scene): boolean {
  return machine.isSince(machine.eras.mortgages)
}
