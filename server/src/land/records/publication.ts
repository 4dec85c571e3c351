import { ASSET_TYPES, type AssetType, assetType } from './assets.ts'
import * as is from './checks.ts'
import {
  address,
  assetId,
  choice,
  deadlineMs,
  derived,
  hash,
  integer,
  isoTime,
  optional,
  orNull,
  price,
  timeMs,
  word,
} from './fields.ts'
import { plainJson } from './json.ts'
import { defineRecord, type Line, type Row } from './record.ts'
import { listingStatus } from './statuses.ts'

/**
 * Why a publication is not open: its contract logged a sale or a cancellation (`event`), the asset left its seller
 * (`moved`: it opens again when the asset returns), or the seller made another one (`replaced`).
 */
export const PUBLICATION_CLOSINGS = ['event', 'moved', 'replaced'] as const
export type PublicationClosing = (typeof PUBLICATION_CLOSINGS)[number]

const SOLD_SOURCES = ['order', 'trade'] as const
type SoldSource = (typeof SOLD_SOURCES)[number]

const ALWAYS_ANSWERED = [
  'tx_hash',
  'tx_status',
  'owner',
  'price',
  'expires_at',
  'status',
  'buyer',
  'contract_id',
  'block_number',
  'block_time_created_at',
  'block_time_updated_at',
  'asset_id',
  'asset_type',
  'type',
  'marketplace_address',
  'marketplace_id',
] as const

export const PUBLICATION = defineRecord({
  description: 'An offer for sale.',
  fields: {
    tx_hash: hash('Transaction that made the offer; one transaction can make several.'),
    tx_status: word(is.oneOf('confirmed')),
    owner: address('The seller.'),
    price: price(),
    expires_at: deadlineMs(),
    status: listingStatus(),
    buyer: orNull(address()),
    contract_id: hash('The offer in its contract; not unique.'),
    block_number: integer(is.isSafeInteger, 'Block of creation.'),
    block_time_created_at: timeMs(),
    block_time_updated_at: orNull(timeMs()),
    asset_id: assetId('Estate id, or parcel as x,y.'),
    asset_type: assetType(),
    marketplace_address: address('Contract of the marketplace.'),
    created_at: isoTime(),
    updated_at: isoTime(),
    /** Position in its block of the log that made it. */
    log_index: optional(integer(is.isCount)),
    /** Null while open, and where it is unknown: rows of a snapshot without it. */
    closed_by: optional(
      choice<PublicationClosing>(is.oneOf('event', 'moved', 'replaced'), PUBLICATION_CLOSINGS),
    ),
    closed_tx_hash: optional(hash('Transaction that closed it.')),
    /** Of a sale: the parcels that the asset had then. An estate can have others now, or none. */
    sold_size: optional(integer(is.isCount)),
    /** Of a sale: whether a marketplace had stored the offer, or its seller had signed it off the chain. */
    sold_source: optional(choice<SoldSource>(is.oneOf('order', 'trade'), SOLD_SOURCES)),
    /** Of a sale: its block, and the position in it of the log that says so. */
    sold_block_number: optional(integer(is.isSafeInteger)),
    sold_log_index: optional(integer(is.isCount)),
  },
  places: {
    /** Our own number, in order of creation: neither tx_hash nor contract_id is unique in real history. */
    key: (_record, index) => index + 1,
  },
  derived: {
    // Both names of the renamed pair.
    type: derived(
      ({ oneOf }) => oneOf(ASSET_TYPES, { description: 'The same as asset_type.' }),
      (row: { asset_type: AssetType }) => plainJson(row.asset_type),
    ),
    marketplace_id: derived(
      ({ addressText }) => addressText('The same as marketplace_address.'),
      (row: { marketplace_address: string }) => plainJson(row.marketplace_address),
    ),
  },
  answer: [...ALWAYS_ANSWERED, 'closed_tx_hash'],
  notAnswered: [
    'created_at',
    'updated_at',
    'log_index',
    'closed_by',
    'sold_size',
    'sold_source',
    'sold_block_number',
    'sold_log_index',
  ],
})

export interface PublicationTable extends Row<typeof PUBLICATION> {}
/** A publication as it stands on a line of a snapshot. */
export interface PublicationRecord extends Line<typeof PUBLICATION> {}

const withoutClosing = PUBLICATION.jsonOf(ALWAYS_ANSWERED)

/**
 * A publication as it is answered everywhere (docs/land.md, Publication): both names of the renamed pair, and the
 * transaction that closed it where that is known, and never of an open one.
 */
export function publicationJson(row: PublicationTable): string {
  return row.status === 'open' || row.closed_tx_hash === null ? withoutClosing(row) : PUBLICATION.json(row)
}
