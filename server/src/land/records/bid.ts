import { assetType } from './assets.ts'
import * as is from './checks.ts'
import {
  address,
  assetId,
  bytes,
  choice,
  deadlineMsDigits,
  hash,
  integer,
  isoTime,
  optional,
  price,
  timeMsDigits,
  tokenId,
} from './fields.ts'
import { type AnswerRow, defineRecord, type Line, type Row } from './record.ts'
import { listingStatus } from './statuses.ts'

/**
 * Why a bid is not open: its contract logged that it was accepted or cancelled (`event`), another bid on the asset was
 * accepted (`void`), its bidder made another one (`replaced`), or the parcels of the estate are not those that it was
 * made for (`fingerprint`: it opens again when they are).
 */
const BID_CLOSINGS = ['event', 'void', 'replaced', 'fingerprint'] as const
export type BidClosing = (typeof BID_CLOSINGS)[number]

/** What is always answered, in its order. */
const DOCUMENTED = [
  'id',
  'token_address',
  'token_id',
  'bidder',
  'seller',
  'price',
  'expires_at',
  'fingerprint',
  'status',
  'asset_id',
  'asset_type',
  'block_number',
  'block_time_created_at',
  'block_time_updated_at',
  'created_at',
  'updated_at',
] as const

export const BID = defineRecord({
  description: 'An offer to buy.',
  fields: {
    /** Not unique: two equal bids of one bidder in one block have the same. */
    id: hash('Id of the bid in its contract.'),
    token_address: address('Contract of the asset.'),
    token_id: tokenId('Exact decimal digits.'),
    bidder: address(),
    seller: address(),
    price: price(),
    expires_at: deadlineMsDigits(),
    fingerprint: bytes("0x for parcels, the estate's contents for estates.", is.isFingerprint),
    status: listingStatus(),
    asset_id: assetId(),
    asset_type: assetType(),
    block_number: integer(is.isSafeInteger, 'Block of the last change.'),
    block_time_created_at: timeMsDigits(),
    block_time_updated_at: timeMsDigits(),
    created_at: isoTime(),
    updated_at: isoTime(),
    // Where the chain says so; a snapshot may leave the three out.
    tx_hash: optional(hash('With sanitize=false: transaction of the bid, where known.')),
    log_index: optional(integer(is.isCount, 'With sanitize=false.')),
    contract_address: optional(address('With sanitize=false.')),
    /** Null while open, and where it is unknown: rows of a snapshot without it. */
    closed_by: optional(
      choice<BidClosing>(is.oneOf('event', 'void', 'replaced', 'fingerprint'), BID_CLOSINGS),
    ),
    closed_tx_hash: optional(hash()),
    /** Only for an accepted bid: the parcels that the asset had then, and the position in its block of the log that says so. */
    sold_size: optional(integer(is.isCount)),
    sold_log_index: optional(integer(is.isCount)),
  },
  places: {
    /** Our own number, in order of creation. */
    key: (_record, index) => index + 1,
  },
  derived: {},
  answer: [...DOCUMENTED, 'tx_hash', 'log_index', 'contract_address'],
  notAnswered: ['closed_by', 'closed_tx_hash', 'sold_size', 'sold_log_index'],
})

export interface BidTable extends Row<typeof BID> {}
/** What of a bid answers are made of. */
export interface AnsweredBid extends AnswerRow<typeof BID> {}
/** A bid as it stands on a line of a snapshot. */
export interface BidRecord extends Line<typeof BID> {}

const sanitizedJson = BID.jsonOf(DOCUMENTED)

/**
 * A bid as it is answered (docs/land.md, Bid).
 *
 * @param sanitize false adds where on the chain the bid was found
 */
export function bidJson(row: AnsweredBid, { sanitize }: { readonly sanitize: boolean }): string {
  return sanitize ? sanitizedJson(row) : BID.json(row)
}
