import { auctionParcels, describeAsset, setOperator, setUpdateOperator, transferAsset } from './assets.ts'
import { acceptBid, cancelBid, placeBid } from './bids.ts'
import { createEstate, joinEstate, leaveEstate } from './estates.ts'
import type { LandEvent } from './land-event.ts'
import type { Awaitable, LandRows } from './land-rows.ts'
import { cancelListing, openListing, sellListing } from './listings.ts'
import {
  cancelMortgage,
  claimMortgage,
  defaultMortgage,
  lendLoan,
  payPart,
  readLoanTerms,
  requestMortgage,
  settleLoan,
  startMortgage,
  transferLoan,
} from './mortgages.ts'
import { endRent, rentAsset } from './rentals.ts'
import { setRight } from './rights.ts'
import type { RuleContext } from './rule-context.ts'
import {
  cancelSignature,
  pauseMarketplace,
  raiseAssetIndex,
  raiseSignatureIndex,
  settleTrade,
  useSignature,
} from './trades.ts'

/**
 * Applies one event to the rows. Events come in the order of the chain (block, then log index), each of them once. No
 * clock and no other source: the same events give the same rows, however they are cut into batches.
 *
 * @example
 * const rows = new MemoryRows()
 * await applyEvent(rows, { at, kind: 'asset-transferred', asset: { type: 'parcel', id: '3,4' }, from: null, to: '0xa…' }, context)
 * await rows.parcel({ x: 3, y: 4 }) // { x: 3, y: 4, owner: '0xa…', … }
 */
export function applyEvent(rows: LandRows, event: LandEvent, context: RuleContext): Awaitable<void> {
  const step = { rows, at: event.at, context }
  switch (event.kind) {
    case 'asset-transferred':
      return transferAsset(step, event)
    case 'asset-described':
      return describeAsset(step, event)
    case 'operator-set':
      return setOperator(step, event)
    case 'update-operator-set':
      return setUpdateOperator(step, event)
    case 'asset-rented':
      return rentAsset(step, event)
    case 'rent-ended':
      return endRent(step, event)
    case 'parcels-auctioned':
      return auctionParcels(step, event)
    case 'approval-for-all-set':
    case 'update-manager-set':
      return setRight(step, event)
    case 'estate-created':
      return createEstate(step, event)
    case 'parcel-joined-estate':
      return joinEstate(step, event)
    case 'parcel-left-estate':
      return leaveEstate(step, event)
    case 'listing-opened':
      return openListing(step, event)
    case 'listing-sold':
      return sellListing(step, event)
    case 'listing-cancelled':
      return cancelListing(step, event)
    case 'bid-placed':
      return placeBid(step, event)
    case 'bid-accepted':
      return acceptBid(step, event)
    case 'bid-cancelled':
      return cancelBid(step, event)
    case 'mortgage-requested':
      return requestMortgage(step, event)
    case 'mortgage-started':
      return startMortgage(step, event)
    case 'mortgage-cancelled':
      return cancelMortgage(step, event)
    case 'mortgage-claimed':
      return claimMortgage(step, event)
    case 'mortgage-defaulted':
      return defaultMortgage(step, event)
    case 'loan-terms-read':
      return readLoanTerms(step, event)
    case 'loan-lent':
      return lendLoan(step, event)
    case 'loan-transferred':
      return transferLoan(step, event)
    case 'loan-partly-paid':
      return payPart(step, event)
    case 'loan-paid':
    case 'loan-pardoned':
      return settleLoan(step, event)
    case 'asset-traded':
      return settleTrade(step, event)
    case 'signature-cancelled':
      return cancelSignature(step, event)
    case 'signature-used':
      return useSignature(step, event)
    case 'signature-index-raised':
      return raiseSignatureIndex(step, event)
    case 'asset-index-raised':
      return raiseAssetIndex(step, event)
    case 'marketplace-paused':
      return pauseMarketplace(step, event)
  }
}
