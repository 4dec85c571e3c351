import type { Database, LandTable } from '../../db/schema.ts'
import { moneyOf } from './checks.ts'
import type { DataSetName, JsonMoney, RecordOf } from './format.ts'
import type { Links } from './links.ts'

/** A row without the number of its world, which the loader adds. */
type RowOf<Table extends LandTable> = Omit<Database[Table], 'world_id'>

export const TABLE_OF = {
  districts: 'district',
  parcels: 'parcel',
  estates: 'estate',
  publications: 'publication',
  bids: 'bid',
  mortgages: 'mortgage',
  contributions: 'contribution',
} as const satisfies Record<DataSetName, LandTable>

/** Turns a checked record into a row; `index` is its place in its file, from 0. */
export type RowMaker<Name extends DataSetName> = (
  record: RecordOf[Name],
  index: number,
  links: Links,
) => RowOf<(typeof TABLE_OF)[Name]>

export const ROWS: { readonly [Name in DataSetName]: RowMaker<Name> } = {
  districts: ({ parcel_count, parcels, ...record }, position) => ({ ...record, position }),

  parcels: (record, _index, links) => {
    const { data, tags } = record
    const { plaza, road } = tags.proximity ?? {}
    const position = links.positionsOf(record)
    return {
      x: record.x,
      y: record.y,
      owner: record.owner,
      operator: record.operator,
      update_operator: record.update_operator,
      data_version: data.version,
      name: data.name ?? null,
      description: data.description ?? null,
      ipns: data.ipns ?? null,
      district_id: record.district_id,
      district_position: record.district_id === null ? null : position.district,
      estate_id: record.estate_id,
      estate_position: record.estate_id === null ? null : position.estate,
      plaza_district_id: plaza?.district_id ?? null,
      plaza_distance: plaza?.distance ?? null,
      road_district_id: road?.district_id ?? null,
      road_distance: road?.distance ?? null,
      auction_price: record.auction_price === null ? null : money(record.auction_price),
      auction_owner: record.auction_owner,
      last_transferred_at_ms: integer(record.last_transferred_at),
      created_at_ms: Date.parse(record.created_at),
      updated_at_ms: Date.parse(record.updated_at),
    }
  },

  estates: ({ data, ...record }) => ({
    id: record.id,
    token_id: record.token_id,
    tx_hash: record.tx_hash,
    owner: record.owner,
    operator: record.operator,
    update_operator: record.update_operator,
    data_version: data.version,
    name: data.name ?? null,
    description: data.description ?? null,
    ipns: data.ipns ?? null,
    last_transferred_at_ms: Number(record.last_transferred_at),
    district_id: null,
    created_at_ms: Date.parse(record.created_at),
    updated_at_ms: Date.parse(record.updated_at),
  }),

  publications: (record, index) => ({
    key: index + 1,
    tx_hash: record.tx_hash,
    tx_status: record.tx_status,
    owner: record.owner,
    price: money(record.price),
    expires_at_ms: record.expires_at,
    status: record.status,
    buyer: record.buyer,
    contract_id: record.contract_id,
    block_number: record.block_number,
    block_time_created_at_ms: record.block_time_created_at,
    block_time_updated_at_ms: record.block_time_updated_at,
    asset_id: record.asset_id,
    asset_type: record.asset_type,
    marketplace_address: record.marketplace_address,
    created_at_ms: Date.parse(record.created_at),
    updated_at_ms: Date.parse(record.updated_at),
  }),

  bids: (record, index) => ({
    key: index + 1,
    id: record.id,
    token_address: record.token_address,
    token_id: record.token_id,
    bidder: record.bidder,
    seller: record.seller,
    price: money(record.price),
    expires_at_ms: Number(record.expires_at),
    fingerprint: record.fingerprint,
    status: record.status,
    asset_id: record.asset_id,
    asset_type: record.asset_type,
    block_number: record.block_number,
    block_time_created_at_ms: Number(record.block_time_created_at),
    block_time_updated_at_ms: Number(record.block_time_updated_at),
    created_at_ms: Date.parse(record.created_at),
    updated_at_ms: Date.parse(record.updated_at),
    tx_hash: record.tx_hash ?? null,
    log_index: record.log_index ?? null,
    contract_address: record.contract_address ?? null,
  }),

  mortgages: (record, index) => ({
    key: index + 1,
    tx_hash: record.tx_hash,
    tx_status: record.tx_status,
    block_number: record.block_number,
    status: record.status,
    asset_id: record.asset_id,
    asset_type: record.asset_type,
    borrower: record.borrower,
    lender: record.lender,
    loan_id: record.loan_id,
    mortgage_id: record.mortgage_id,
    amount: money(record.amount),
    is_due_at_s: Number(record.is_due_at),
    expires_at_ms: Number(record.expires_at),
    block_time_created_at_ms: Number(record.block_time_created_at),
    block_time_updated_at_ms: integer(record.block_time_updated_at),
    created_at_ms: Date.parse(record.created_at),
    updated_at_ms: Date.parse(record.updated_at),
    outstanding_amount: money(record.outstanding_amount),
    payable_at_s: Number(record.payable_at),
    interest_rate: record.interest_rate,
    punitory_interest_rate: record.punitory_interest_rate,
    paid: money(record.paid),
    started_at_ms: integer(record.started_at),
  }),

  contributions: ({ timestamp, ...record }, index) => ({
    key: index + 1,
    ...record,
    timestamp_ms: Number(timestamp),
  }),
}

function money(value: JsonMoney): string {
  const text = moneyOf(value)
  // The check let it pass: a wrong sum must not become a silent null.
  if (text === undefined) throw new RangeError(`No sum of money: ${String(value)}`)
  return text
}

function integer(text: string | null): number | null {
  return text === null ? null : Number(text)
}
