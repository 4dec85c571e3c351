/** For tests: the rules of the snapshot format about publications, bids and loans. See `broken-rules.ts`. */

import { estateFingerprint, fingerprintTest } from '../../../../src/land/events/fingerprints.ts'
import type { EstateRecord } from '../../../../src/land/records/estate.ts'
import type { MortgageRecord } from '../../../../src/land/records/mortgage.ts'
import { ESTATE_REGISTRY, LAND_REGISTRY } from '../registries.ts'
import { assetKey, type Books, checkUnique } from './rule-books.ts'

export function checkListings(books: Books): void {
  const { world, parcels, estates, presentMs, broken } = books
  checkUnique(
    books,
    'a contract id',
    world.publications.map(({ contract_id }) => contract_id),
  )
  checkUnique(
    books,
    'a publication creation',
    world.publications.map(({ created_at }) => created_at),
  )
  for (const one of world.publications) {
    const { tx_hash, status, owner, buyer, expires_at: expiresAt, block_time_updated_at: updated } = one
    const created = one.block_time_created_at
    const asset = one.asset_type === 'parcel' ? parcels.get(one.asset_id) : estates.get(one.asset_id)
    if (!asset) broken('a publication has an asset', tx_hash)
    if ((status === 'sold') !== (buyer !== null)) broken('sold means bought', tx_hash)
    if ((status === 'open') !== (updated === null)) broken('open means untouched', tx_hash)
    if (buyer === owner) broken('nobody sells to themselves', tx_hash)
    if (updated !== null && (updated <= created || updated > presentMs)) broken('listing times', tx_hash)
    if (status === 'sold' && expiresAt < updated!) broken('nothing is sold after it expired', tx_hash)
    if (expiresAt <= created || expiresAt > created + 5.01 * 365.25 * 86_400_000) broken('expiry', tx_hash)
    const lag = Date.parse(one.created_at) - created
    if (lag < 3000 || lag > 90_000) broken('rows follow blocks', tx_hash)
    if (status === 'open' && one.updated_at !== one.created_at) broken('open rows are untouched', tx_hash)
    const isFirst = created < Date.UTC(2018, 9, 12)
    if (isFirst !== one.marketplace_address.startsWith('0xb3bca6f5')) broken('marketplace', tx_hash)
    if (!(Number(String(one.price)) >= 1)) broken('a price is at least 1', tx_hash)
  }
  for (const [key, listings] of books.publications) {
    const asset = listings[0]!.asset_type === 'parcel' ? parcels.get(listings[0]!.asset_id) : undefined
    const owner = asset ? asset.owner : estates.get(listings[0]!.asset_id)?.owner
    listings.forEach((one, at) => {
      const next = listings[at + 1]
      const end = one.block_time_updated_at
      if (next && (end === null || end >= next.block_time_created_at)) broken('no two at once', key)
      if (one.status === 'open' && one.owner !== owner) broken('the present owner offers', key)
      if (asset?.estate_id && (end === null || end > Number(asset.last_transferred_at))) {
        broken('what is in an estate is not offered', key)
      }
      const since = Number(asset?.last_transferred_at ?? estates.get(one.asset_id)?.last_transferred_at)
      if (one.status === 'open' && since > one.block_time_created_at) broken('owned before offered', key)
    })
  }
}

/** Each seller is the buyer before; the first is who won the auction, the last buyer the present owner. */
export function checkChains({ parcels, estates, publications, bids, broken }: Books): void {
  for (const key of new Set([...publications.keys(), ...bids.keys()])) {
    const sales = [
      ...(publications.get(key) ?? [])
        .filter(({ status }) => status === 'sold')
        .map((one) => ({ seller: one.owner, buyer: one.buyer, atMs: one.block_time_updated_at! })),
      ...(bids.get(key) ?? [])
        .filter(({ status }) => status === 'sold')
        .map((one) => ({ seller: one.seller, buyer: one.bidder, atMs: Number(one.block_time_updated_at) })),
    ].sort((one, other) => one.atMs - other.atMs)
    const last = sales.at(-1)
    const [type, id = ''] = key.split(' ')
    const asset = type === 'parcel' ? parcels.get(id) : estates.get(id)
    if (!asset || !last) continue
    const transferMs = Number(asset.last_transferred_at)
    const wasGiven = type === 'parcel' && transferMs > 0 && transferMs < sales[0]!.atMs
    sales.forEach((sale, at) => {
      if (at > 0 && sale.seller !== sales[at - 1]!.buyer) broken('each seller is the buyer before', key)
    })
    if (wasGiven) broken('a sale is a transfer', key)
    if (transferMs < last.atMs) broken('the last transfer is the last sale or later', key)
    if (transferMs === last.atMs && asset.owner !== last.buyer) broken('the last buyer is the owner', key)
    if (transferMs === last.atMs && 'estate_id' in asset && asset.estate_id) broken('joined later', key)
    const first = 'auction_owner' in asset ? asset.auction_owner : null
    if (first !== null && first !== sales[0]!.seller) broken('the first seller won the auction', key)
  }
}

export function checkBids(books: Books): void {
  const { world, parcels, estates, presentMs, broken } = books
  checkUnique(
    books,
    'a bid id',
    world.bids.map(({ id }) => id),
  )
  checkUnique(
    books,
    'a bid creation',
    world.bids.map(({ created_at }) => created_at),
  )
  const open = world.bids.filter(({ status }) => status === 'open')
  checkUnique(
    books,
    'an open bid',
    open.map((one) => `${assetKey(one)} ${one.bidder}`),
  )
  for (const bid of world.bids) {
    const isParcel = bid.asset_type === 'parcel'
    const asset = isParcel ? parcels.get(bid.asset_id) : estates.get(bid.asset_id)
    const created = Number(bid.block_time_created_at)
    const updated = Number(bid.block_time_updated_at)
    if (asset?.token_id !== bid.token_id) broken('a bid names its token', bid.id)
    if (bid.token_address !== (isParcel ? LAND_REGISTRY : ESTATE_REGISTRY)) broken('a registry', bid.id)
    if (bid.bidder === bid.seller) broken('nobody bids on their own', bid.id)
    if (created < Date.UTC(2019, 1, 1) || updated < created || updated > presentMs)
      broken('bid times', bid.id)
    if ((bid.status === 'open') !== (updated === created)) broken('open bids are untouched', bid.id)
    if (bid.status === 'open' && bid.seller !== asset?.owner) broken('open bids are on an owner', bid.id)
    if (Number(bid.expires_at) <= created) broken('bids expire after they are made', bid.id)
    if (bid.status === 'sold' && Number(bid.expires_at) < updated) broken('accepted in time', bid.id)
    if (Date.parse(bid.updated_at) < Date.parse(bid.created_at)) broken('bid rows', bid.id)
    if ((bid.fingerprint === '0x') !== isParcel) broken('estates have fingerprints', bid.id)
    const estate = isParcel || bid.status !== 'open' ? undefined : estates.get(bid.asset_id)
    if (estate && !isOfParcels(estate, bid.fingerprint)) broken('open bids can be accepted', bid.id)
  }
}

/** Whether the registry takes the fingerprint for the parcels of an estate. */
function isOfParcels({ id, data: { parcels } }: EstateRecord, fingerprint: string): boolean {
  return fingerprintTest({ id, parcels, fingerprint: estateFingerprint(id, parcels) })(fingerprint)
}

export function checkLoans(books: Books): void {
  const { world, broken } = books
  for (const key of ['tx_hash', 'loan_id', 'mortgage_id', 'created_at'] as const) {
    checkUnique(
      books,
      `a loan's ${key}`,
      world.mortgages.map((loan) => loan[key]),
    )
  }
  for (const loan of world.mortgages) {
    const isStarted = loan.status !== 'pending' && loan.status !== 'cancelled'
    const created = Number(loan.block_time_created_at)
    if (isStarted !== (loan.lender !== null)) broken('a started loan has a lender', loan.tx_hash)
    if (isStarted !== (loan.started_at !== null)) broken('a started loan says when', loan.tx_hash)
    if (isStarted === (loan.is_due_at === '0')) broken('a started loan falls due', loan.tx_hash)
    if ((loan.status === 'pending') !== (loan.block_time_updated_at === null)) broken('pending', loan.tx_hash)
    if (Number(loan.expires_at) <= created) broken('a request ends after it is made', loan.tx_hash)
    if (loan.lender === loan.borrower) broken('nobody lends to themselves', loan.tx_hash)
    const owes = loan.status === 'ongoing' || loan.status === 'defaulted'
    if (owes !== Number(String(loan.outstanding_amount)) > 0) broken('who owes', loan.tx_hash)
    if (!(Number(String(loan.amount)) >= 1)) broken('an amount is at least 1', loan.tx_hash)
    if (loan.interest_rate <= loan.punitory_interest_rate) broken('punishment costs more', loan.tx_hash)
    if (isStarted) checkSaleOf(loan, books)
    else if (loan.status === 'pending') checkWish(loan, books)
  }
}

function checkSaleOf(loan: MortgageRecord, { parcels, publications, broken }: Books): void {
  const sale = publications
    .get(`parcel ${loan.asset_id}`)
    ?.find((one) => one.status === 'sold' && String(one.block_time_updated_at) === loan.started_at)
  if (sale?.buyer !== loan.borrower) broken('a loan belongs to a sale', loan.tx_hash)
  if (Number(loan.block_time_created_at) > Number(loan.started_at)) broken('asked, then given', loan.tx_hash)
  if (Number(loan.block_time_updated_at) < Number(loan.started_at)) broken('given, then paid', loan.tx_hash)
  if (Number(loan.is_due_at) * 1000 <= Number(loan.started_at)) broken('due after its start', loan.tx_hash)
  if (Number(loan.expires_at) < Number(loan.started_at) - 86_400_000) broken('given in time', loan.tx_hash)
  const isSettled = loan.status === 'claimed'
  if (!isSettled && parcels.get(loan.asset_id)?.owner !== loan.borrower) broken('has it still', loan.tx_hash)
}

function checkWish(loan: MortgageRecord, { publications, presentMs, broken }: Books): void {
  const offer = publications.get(`parcel ${loan.asset_id}`)?.at(-1)
  const isAlive = offer?.status === 'open' && offer.expires_at > presentMs
  if (!isAlive || offer.owner === loan.borrower) broken('a pending loan is for an offer', loan.tx_hash)
}

/** A higher block is never earlier, and one block has one time. */
export function checkBlocks({ world, broken }: Books): void {
  const seen = [
    ...world.publications.map((one) => ({ block: one.block_number, ms: one.block_time_created_at })),
    ...world.bids.map((one) => ({ block: one.block_number, ms: Number(one.block_time_updated_at) })),
    ...world.mortgages.map((one) => ({ block: one.block_number, ms: Number(one.block_time_created_at) })),
  ].sort((one, other) => one.block - other.block)
  seen.forEach(({ block, ms }, at) => {
    const before = seen[at - 1]
    if (before && (before.block === block ? before.ms !== ms : before.ms >= ms)) {
      broken('blocks and times agree', `${before.block} at ${before.ms}, ${block} at ${ms}`)
    }
  })
  for (const records of [world.publications, world.bids, world.mortgages]) {
    const times = records.map((one) => Number(one.block_time_created_at))
    if (times.some((ms, at) => ms < (times[at - 1] ?? 0))) broken('records are in order of creation', '')
  }
}
