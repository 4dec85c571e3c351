import type { ListName } from '../state/explore-state.ts'
import type { CsvValue } from './csv.ts'

/**
 * The columns of each list: the fields of its objects as openapi.json names them, those of an inner object behind a dot.
 * Left out are second names for the same thing (`publication.type`, `publication.marketplace_id`).
 */

const PUBLICATION = [
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
  'marketplace_address',
].map((field) => `publication.${field}`)

const DATA = ['data.version', 'data.name', 'data.description', 'data.ipns']

const PARCEL = [
  'id',
  'x',
  'y',
  'owner',
  'operator',
  'update_operator',
  ...DATA,
  'district_id',
  'in_estate',
  'estate_id',
  'tags.proximity.plaza.district_id',
  'tags.proximity.plaza.distance',
  'tags.proximity.road.district_id',
  'tags.proximity.road.distance',
  'auction_price',
  'auction_owner',
  'auction_timestamp',
  'last_transferred_at',
]

const ESTATE_ONLY = ['token_id', 'tx_hash', 'data.parcels']

const ESTATE = [
  'id',
  'owner',
  'operator',
  'update_operator',
  ...DATA,
  'district_id',
  'last_transferred_at',
  ...ESTATE_ONLY,
]

const TIMES = ['block_time_created_at', 'block_time_updated_at', 'created_at', 'updated_at']

export const CSV_FIELDS: Readonly<Record<ListName, readonly string[]>> = {
  on_sale: [...PARCEL, ...ESTATE_ONLY, ...PUBLICATION],
  parcels: [...PARCEL, ...PUBLICATION],
  estates: [...ESTATE, ...PUBLICATION],
  bids: [
    'id',
    'asset_type',
    'asset_id',
    'token_address',
    'token_id',
    'bidder',
    'seller',
    'price',
    'status',
    'expires_at',
    'fingerprint',
    'block_number',
    ...TIMES,
  ],
  contributions: ['address', 'district_id', 'land_count'],
  mortgages: [
    'mortgage_id',
    'loan_id',
    'asset_type',
    'asset_id',
    'status',
    'borrower',
    'lender',
    'amount',
    'outstanding_amount',
    'paid',
    'interest_rate',
    'punitory_interest_rate',
    'started_at',
    'is_due_at',
    'payable_at',
    'expires_at',
    'tx_hash',
    'tx_status',
    'block_number',
    ...TIMES,
  ],
}

/** The cells of an object. The parcels of an estate are one cell, `x,y;x,y`, as everywhere in the interfaces. */
export function csvRow(fields: readonly string[], item: unknown): readonly CsvValue[] {
  return fields.map((field) => {
    const value = field.split('.').reduce(inner, item)
    return Array.isArray(value) ? value.map(({ x, y }) => `${x},${y}`).join(';') : (value as CsvValue)
  })
}

function inner(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}
