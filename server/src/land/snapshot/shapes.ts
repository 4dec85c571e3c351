import * as is from './checks.ts'
import type { DataSetName } from './format.ts'

/**
 * The fields of every record, in the order in which an export writes them. What a single field may hold stands
 * here; what two fields of one record say about each other in rules.ts; what records say about others in links.ts.
 */

const assetData = {
  version: is.isCount,
} as const
const assetTexts = { name: is.isText, description: is.isText, ipns: is.isText } as const

const proximity = is.object({ district_id: is.isUuid, distance: is.integer(0, 9) })

const listingStatus = is.oneOf('open', 'sold', 'cancelled')
const assetType = is.oneOf('parcel', 'estate')

const districts = is.object({
  id: is.isUuid,
  name: is.isText,
  description: is.isText,
  link: is.isLink,
  public: is.isBoolean,
  disabled: is.isBoolean,
  parcel_count: is.isCount,
  center: is.isCoords,
  parcels: is.arrayOf(is.isCoords),
})

const parcels = is.object({
  id: is.isCoords,
  x: is.integer(-999_999, 999_999),
  y: is.integer(-999_999, 999_999),
  token_id: is.isTokenId,
  owner: is.orNull(is.isAddress),
  operator: is.orNull(is.isAddress),
  update_operator: is.orNull(is.isAddress),
  data: is.object(assetData, assetTexts),
  district_id: is.orNull(is.isUuid),
  estate_id: is.orNull(is.isEstateId),
  tags: is.object({}, { proximity: is.object({}, { plaza: proximity, road: proximity }) }),
  auction_price: is.orNull(is.isMoney),
  auction_owner: is.orNull(is.isAddress),
  auction_timestamp: is.isNull,
  last_transferred_at: is.orNull(is.isTimeMsText),
  created_at: is.isIsoTime,
  updated_at: is.isIsoTime,
})

const estates = is.object({
  id: is.isEstateId,
  tx_hash: is.isHash,
  token_id: is.isEstateId,
  owner: is.isAddress,
  operator: is.orNull(is.isAddress),
  update_operator: is.orNull(is.isAddress),
  data: is.object(
    {
      ...assetData,
      parcels: is.arrayOf(is.object({ x: is.integer(-999_999, 999_999), y: is.integer(-999_999, 999_999) })),
    },
    assetTexts,
  ),
  last_transferred_at: is.isTimeMsText,
  district_id: is.isNull,
  created_at: is.isIsoTime,
  updated_at: is.isIsoTime,
})

const publications = is.object({
  tx_hash: is.isHash,
  tx_status: is.oneOf('confirmed'),
  owner: is.isAddress,
  price: is.isPrice,
  expires_at: is.isDeadlineMs,
  status: listingStatus,
  buyer: is.orNull(is.isAddress),
  contract_id: is.isHash,
  block_number: is.isSafeInteger,
  block_time_created_at: is.isTimeMs,
  block_time_updated_at: is.orNull(is.isTimeMs),
  asset_id: is.isText,
  asset_type: assetType,
  marketplace_address: is.isAddress,
  created_at: is.isIsoTime,
  updated_at: is.isIsoTime,
})

const bids = is.object(
  {
    id: is.isHash,
    token_address: is.isAddress,
    token_id: is.isTokenId,
    bidder: is.isAddress,
    seller: is.isAddress,
    price: is.isPrice,
    expires_at: is.isDeadlineMsText,
    fingerprint: is.isHexBytes,
    status: listingStatus,
    asset_id: is.isText,
    asset_type: assetType,
    block_number: is.isSafeInteger,
    block_time_created_at: is.isTimeMsText,
    block_time_updated_at: is.isTimeMsText,
    created_at: is.isIsoTime,
    updated_at: is.isIsoTime,
  },
  { tx_hash: is.isHash, log_index: is.isCount, contract_address: is.isAddress },
)

const mortgages = is.object({
  tx_hash: is.isHash,
  tx_status: is.oneOf('confirmed'),
  block_number: is.isSafeInteger,
  status: is.oneOf('pending', 'cancelled', 'ongoing', 'paid', 'defaulted', 'claimed'),
  asset_id: is.isText,
  asset_type: is.oneOf('parcel'),
  borrower: is.isAddress,
  lender: is.orNull(is.isAddress),
  loan_id: is.isSafeInteger,
  mortgage_id: is.isSafeInteger,
  amount: is.isPrice,
  is_due_at: is.isTimeSecondsText,
  expires_at: is.isDeadlineMsText,
  block_time_created_at: is.isTimeMsText,
  block_time_updated_at: is.orNull(is.isTimeMsText),
  created_at: is.isIsoTime,
  updated_at: is.isIsoTime,
  outstanding_amount: is.isMoney,
  payable_at: is.isSecondsText,
  interest_rate: is.isSafeInteger,
  punitory_interest_rate: is.isSafeInteger,
  paid: is.isMoney,
  started_at: is.orNull(is.isTimeMsText),
})

const contributions = is.object({
  address: is.isAddress,
  district_id: is.isUuid,
  land_count: is.isPositiveCount,
  timestamp: is.isTimeMsText,
})

export const SHAPES: Readonly<Record<DataSetName, is.Check>> = {
  districts,
  parcels,
  estates,
  publications,
  bids,
  mortgages,
  contributions,
}
