import { coordText, parseCoord, tokenIdText } from '@landpass/client/grid'
import type { BidRecord } from '../records/bid.ts'
import { type Blame, isPrice, moneyOf } from '../records/checks.ts'
import type { Registries } from '../records/contracts.ts'
import type { DistrictRecord } from '../records/district.ts'
import type { EstateRecord } from '../records/estate.ts'
import type { MortgageRecord } from '../records/mortgage.ts'
import type { ParcelRecord } from '../records/parcel.ts'
import type { PublicationRecord } from '../records/publication.ts'
import type { RecordOf, SetName } from './format.ts'

/**
 * Checks the fields of one record against each other, after each field alone was found to be right.
 *
 * Two rules of generated data are left out on purpose, as real history breaks them: `tx_hash` and `contract_id` of
 * publications are not unique (one transaction can list several parcels), and an asset may have several open ones.
 */
type Rules<R> = (record: R, blame: Blame, source: RecordSource) => boolean

/** Where the records come from. */
export interface RecordSource {
  readonly registries: Registries
  /** Whether from a chain: its contracts allow some mortgages that other sources do not have. */
  readonly isFromChain: boolean
}

function district(record: DistrictRecord, blame: Blame): boolean {
  const { parcels } = record
  let good = true
  if (record.parcel_count !== parcels.length)
    good = blame('parcel_count', record.parcel_count, `must be the length of parcels, ${parcels.length}`)
  if (!parcels.includes(record.center)) good = blame('center', record.center, 'must be one of parcels')
  return good
}

function parcel(record: ParcelRecord, blame: Blame, { registries }: RecordSource): boolean {
  const { tags } = record
  const id = coordText(record)
  if (record.id !== id) return blame('id', record.id, `must be "${id}", as x and y say`)
  let good = true
  const tokenId = tokenIdText(record)
  if (record.token_id !== tokenId)
    good = blame('token_id', record.token_id, `must be "${tokenId}", the token id of ${id}`)
  if ((record.auction_owner === null) !== (record.auction_price === null))
    good = blame('auction_owner', record.auction_owner, 'must be null exactly when auction_price is')
  if (record.auctioned_at !== undefined && record.auction_price === null)
    good = blame('auctioned_at', record.auctioned_at, 'must be left out where auction_price is null')
  if (record.estate_id !== null && record.owner !== registries.estate)
    good = blame(
      'owner',
      record.owner,
      `must be the estate registry, ${registries.estate}: it is in an estate`,
    )
  if (tags.proximity && !tags.proximity.plaza && !tags.proximity.road)
    good = blame('tags.proximity', tags.proximity, 'must name a plaza or a road; near neither, tags is {}')
  return good
}

function estate(record: EstateRecord, blame: Blame): boolean {
  return (
    record.token_id === record.id ||
    blame('token_id', record.token_id, `must be the same as id, "${record.id}"`)
  )
}

function publication(record: PublicationRecord, blame: Blame): boolean {
  let good = isClosedBy(record, blame)
  if ((record.buyer !== null) !== (record.status === 'sold'))
    good = blame('buyer', record.buyer, `must be set exactly when sold, and status is "${record.status}"`)
  if ((record.block_time_updated_at === null) !== (record.status === 'open'))
    good = blame(
      'block_time_updated_at',
      record.block_time_updated_at,
      `must be null exactly when open, and status is "${record.status}"`,
    )
  return good
}

function bid(record: BidRecord, blame: Blame, { registries }: RecordSource): boolean {
  const registry = record.asset_type === 'parcel' ? registries.land : registries.estate
  let good = isClosedBy(record, blame)
  if (record.token_address !== registry)
    good = blame('token_address', record.token_address, `must be ${registry} for an asset of this type`)
  const tokenId = tokenIdOf(record)
  if (tokenId !== undefined && record.token_id !== tokenId)
    good = blame('token_id', record.token_id, `must be "${tokenId}", the token id of its asset`)
  // A caller of the contract may send any bytes. Such a bid is never open, and says why.
  const isClosed = record.closed_by !== undefined
  if (record.asset_type === 'estate' && record.fingerprint.length !== 66 && !isClosed)
    good = blame('fingerprint', record.fingerprint, 'must be a hash for an estate: 0x and 64 hex digits')
  return good
}

/** What closed an open record is not set, and only an event on the chain can close one as sold. */
function isClosedBy(
  {
    status,
    closed_by,
    closed_tx_hash,
    sold_size,
  }: Pick<PublicationRecord | BidRecord, 'status' | 'closed_by' | 'closed_tx_hash' | 'sold_size'>,
  blame: Blame,
): boolean {
  if (sold_size !== undefined && status !== 'sold')
    return blame('sold_size', sold_size, `must be left out, as status is "${status}"`)
  if (closed_tx_hash !== undefined && status === 'open')
    return blame('closed_tx_hash', closed_tx_hash, 'must be left out while open')
  if (closed_by === undefined || status === 'cancelled' || (status === 'sold' && closed_by === 'event'))
    return true
  return blame('closed_by', closed_by, `must be left out, or fit the status, which is "${status}"`)
}

/** Undefined where the asset's id is none, which is found when the asset is looked for. */
function tokenIdOf({ asset_id, asset_type }: BidRecord): string | undefined {
  if (asset_type === 'estate') return asset_id
  const coord = parseCoord(asset_id)
  return coord && tokenIdText(coord)
}

/**
 * On a chain, the terms of a loan may never have been read (its amount is 0 then), nothing may be known of loans (a mortgage that
 * started has no lender), and a loan may have been paid whose mortgage never started.
 */
function mortgage(record: MortgageRecord, blame: Blame, { isFromChain }: RecordSource): boolean {
  const { status } = record
  const started = status !== 'pending' && status !== 'cancelled'
  const owing = status === 'ongoing' || status === 'defaulted'
  const because = `and status is "${status}"`
  let good = true
  if (!isFromChain && moneyOf(record.amount) === '0') good = isPrice(record.amount, 'amount', blame)
  if ((record.lender !== null) !== started && !(isFromChain && started))
    good = blame('lender', record.lender, `must be null exactly when pending or cancelled, ${because}`)
  if ((record.started_at !== null) !== started)
    good = blame(
      'started_at',
      record.started_at,
      `must be null exactly when the loan never started, ${because}`,
    )
  if ((record.is_due_at !== '0') !== started)
    good = blame('is_due_at', record.is_due_at, `must be "0" exactly when the loan never started, ${because}`)
  const isPending = status === 'pending'
  if ((record.block_time_updated_at === null) !== isPending && !(isFromChain && isPending))
    good = blame(
      'block_time_updated_at',
      record.block_time_updated_at,
      `must be null exactly when pending, ${because}`,
    )
  if (!owing && moneyOf(record.outstanding_amount) !== '0')
    good = blame(
      'outstanding_amount',
      record.outstanding_amount,
      `must be 0 unless ongoing or defaulted, ${because}`,
    )
  return good
}

export const RULES: { readonly [Name in SetName]: Rules<RecordOf[Name]> } = {
  districts: district,
  parcels: parcel,
  estates: estate,
  publications: publication,
  bids: bid,
  mortgages: mortgage,
  contributions: () => true,
  rights: () => true,
  trade_signatures: () => true,
  trade_indexes: () => true,
}
