import { ASSET_TYPES, assetType } from './assets.ts'
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
  otherNameOf,
  price,
  timeMs,
  word,
} from './fields.ts'
import { type AnswerRow, defineRecord, type Line, type Row } from './record.ts'
import { listingStatus, OFFER_STATES, type OfferState } from './statuses.ts'

/**
 * Why a publication is not open: its contract logged a sale or a cancellation (`event`), the asset left its seller
 * (`moved`: it opens again when the asset returns), or the seller made another one (`replaced`).
 */
const PUBLICATION_CLOSINGS = ['event', 'moved', 'replaced'] as const
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

/** What answers say besides of an offer that was signed off the chain, and the newer ones of every offer. */
const OFFER_FIELDS = ['source', 'trade_id', 'currency', 'price_usd', 'state', 'state_reason'] as const

const offerField = (schema: Parameters<typeof derived>[0]) =>
  derived(
    (schemas) => schemas.Type.Optional(schema(schemas)),
    () => 'null',
  )

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
    asset_id: assetId(),
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
    /** Only for a sale: the parcels that the asset had then. An estate can have others now, or none. */
    sold_size: optional(integer(is.isCount)),
    /** Only for a sale: whether a marketplace had stored the offer, or its seller had signed it off the chain. */
    sold_source: optional(choice<SoldSource>(is.oneOf('order', 'trade'), SOLD_SOURCES)),
    /** Only for a sale: its block, and the position in it of the log that says so. */
    sold_block_number: optional(integer(is.isSafeInteger)),
    sold_log_index: optional(integer(is.isCount)),
  },
  places: {
    /** Our own number, in order of creation: neither tx_hash nor contract_id is unique in real history. */
    key: (_record, index) => index + 1,
    /** The name of the trade, for an offer that was signed off the chain. Snapshots have none of these. */
    trade_id: (): string | null => null,
  },
  derived: {
    // Both names of the renamed pair.
    type: otherNameOf('asset_type', ({ oneOf }) =>
      oneOf(ASSET_TYPES, { description: 'The same as asset_type.' }),
    ),
    marketplace_id: otherNameOf('marketplace_address', ({ addressText }) =>
      addressText('The same as marketplace_address.'),
    ),
    source: offerField(({ oneOf }) =>
      oneOf(['order', 'trade'], { description: 'trade: signed off the chain.' }),
    ),
    trade_id: offerField(({ Type, orNull }) => orNull(Type.String())),
    currency: offerField(({ oneOf }) => oneOf(['mana', 'usd'], { description: 'usd: paid in MANA.' })),
    price_usd: offerField(({ Type, orNull }) => orNull(Type.String({ description: 'Decimal digits.' }))),
    state: offerField(({ oneOf }) => oneOf(OFFER_STATES, { title: 'OfferState' })),
    state_reason: offerField(({ Type, orNull }) => orNull(Type.String())),
  },
  answer: [...ALWAYS_ANSWERED, 'closed_tx_hash', ...OFFER_FIELDS],
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
/** What of a publication answers are made of. */
export interface AnsweredPublication
  extends AnswerRow<typeof PUBLICATION>,
    Pick<PublicationTable, 'key' | 'trade_id'> {}
/** A publication as it stands on a line of a snapshot. */
export interface PublicationRecord extends Line<typeof PUBLICATION> {}

const WITH_CLOSING = [...ALWAYS_ANSWERED, 'closed_tx_hash'] as const
const withoutClosing = PUBLICATION.jsonOf(ALWAYS_ANSWERED)
const withClosing = PUBLICATION.jsonOf(WITH_CLOSING)

/**
 * A publication as it is answered everywhere (docs/land.md, Publication): both names of the renamed pair, and the
 * transaction that closed it where that is known, and never of an open one. One that was signed off the chain is open.
 */
export function publicationJson(row: AnsweredPublication): string {
  if (row.trade_id !== null) return offerJson(row, OPEN_FOR_MANA)
  return row.status === 'open' || row.closed_tx_hash === null ? withoutClosing(row) : withClosing(row)
}

/** SQL that selects the text of {@link publicationJson}, by the same rule, from a row that has no trade. */
export const PUBLICATION_SQL_JSON = `case when status = 'open' or closed_tx_hash is null
  then ${PUBLICATION.sqlJsonOf(ALWAYS_ANSWERED)} else ${PUBLICATION.sqlJsonOf(WITH_CLOSING)} end`

/** What answers say of an offer besides its publication. */
export interface OfferDetails {
  readonly currency: 'mana' | 'usd'
  /** Decimal text; null for an offer in MANA. */
  readonly priceUsd: string | null
  readonly state: OfferState
  /** A sentence; null while it is open. */
  readonly reason: string | null
}

const OPEN_FOR_MANA: OfferDetails = { currency: 'mana', priceUsd: null, state: 'open', reason: null }

/** A publication with all that is said of offers. */
export function offerJson(
  row: AnsweredPublication,
  { currency, priceUsd, state, reason }: OfferDetails,
): string {
  const details = {
    source: row.trade_id === null ? 'order' : 'trade',
    trade_id: row.trade_id,
    ...{ currency, price_usd: priceUsd, state, state_reason: reason },
  } satisfies Record<(typeof OFFER_FIELDS)[number], string | null>
  return `${withoutClosing(row).slice(0, -1)},${JSON.stringify(details).slice(1)}`
}
