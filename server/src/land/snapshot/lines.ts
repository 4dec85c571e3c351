import { type Coord, coordText, encodeTokenId } from '@landpass/client/grid'
import type { Database, LandTable } from '../../db/schema.ts'

/** Rows as lines of the snapshot format: the way back from rows.ts. Fields come in the order of the format. */

/** What a line needs besides its row: parcels listed by their district or estate, in the order of the lists. */
export type ListedParcels = readonly Coord[]

export const LINES: {
  readonly [Table in LandTable]: (row: Database[Table], parcels: ListedParcels) => string
} = {
  district: (row, parcels) =>
    line({
      id: text(row.id),
      name: text(row.name),
      description: text(row.description),
      link: text(row.link),
      public: String(row.public),
      disabled: String(row.disabled),
      parcel_count: String(parcels.length),
      center: text(row.center),
      parcels: JSON.stringify(parcels.map(coordText)),
    }),

  parcel: (row) =>
    line({
      id: text(coordText(row)),
      x: number(row.x),
      y: number(row.y),
      token_id: text(encodeTokenId(row).toString()),
      owner: text(row.owner),
      operator: text(row.operator),
      update_operator: text(row.update_operator),
      data: data(row),
      district_id: text(row.district_id),
      estate_id: text(row.estate_id),
      tags: tags(row),
      auction_price: row.auction_price ?? 'null',
      auction_owner: text(row.auction_owner),
      auction_timestamp: 'null',
      last_transferred_at: digits(row.last_transferred_at_ms),
      created_at: iso(row.created_at_ms),
      updated_at: iso(row.updated_at_ms),
    }),

  // As the files have it, tx_hash before token_id; the README's table puts it after.
  estate: (row, parcels) =>
    line({
      id: text(row.id),
      tx_hash: text(row.tx_hash),
      token_id: text(row.token_id),
      owner: text(row.owner),
      operator: text(row.operator),
      update_operator: text(row.update_operator),
      data: data(row, parcels),
      last_transferred_at: digits(row.last_transferred_at_ms),
      district_id: text(row.district_id),
      created_at: iso(row.created_at_ms),
      updated_at: iso(row.updated_at_ms),
    }),

  publication: (row) =>
    line({
      tx_hash: text(row.tx_hash),
      tx_status: text(row.tx_status),
      owner: text(row.owner),
      price: row.price,
      expires_at: number(row.expires_at_ms),
      status: text(row.status),
      buyer: text(row.buyer),
      contract_id: text(row.contract_id),
      block_number: number(row.block_number),
      block_time_created_at: number(row.block_time_created_at_ms),
      block_time_updated_at: number(row.block_time_updated_at_ms),
      asset_id: text(row.asset_id),
      asset_type: text(row.asset_type),
      marketplace_address: text(row.marketplace_address),
      created_at: iso(row.created_at_ms),
      updated_at: iso(row.updated_at_ms),
    }),

  bid: (row) =>
    line({
      id: text(row.id),
      token_address: text(row.token_address),
      token_id: text(row.token_id),
      bidder: text(row.bidder),
      seller: text(row.seller),
      price: row.price,
      expires_at: digits(row.expires_at_ms),
      fingerprint: text(row.fingerprint),
      status: text(row.status),
      asset_id: text(row.asset_id),
      asset_type: text(row.asset_type),
      block_number: number(row.block_number),
      block_time_created_at: digits(row.block_time_created_at_ms),
      block_time_updated_at: digits(row.block_time_updated_at_ms),
      created_at: iso(row.created_at_ms),
      updated_at: iso(row.updated_at_ms),
      tx_hash: unlessNull(row.tx_hash),
      log_index: unlessNull(row.log_index),
      contract_address: unlessNull(row.contract_address),
    }),

  mortgage: (row) =>
    line({
      tx_hash: text(row.tx_hash),
      tx_status: text(row.tx_status),
      block_number: number(row.block_number),
      status: text(row.status),
      asset_id: text(row.asset_id),
      asset_type: text(row.asset_type),
      borrower: text(row.borrower),
      lender: text(row.lender),
      loan_id: number(row.loan_id),
      mortgage_id: number(row.mortgage_id),
      amount: row.amount,
      is_due_at: digits(row.is_due_at_s),
      expires_at: digits(row.expires_at_ms),
      block_time_created_at: digits(row.block_time_created_at_ms),
      block_time_updated_at: digits(row.block_time_updated_at_ms),
      created_at: iso(row.created_at_ms),
      updated_at: iso(row.updated_at_ms),
      outstanding_amount: row.outstanding_amount,
      payable_at: digits(row.payable_at_s),
      interest_rate: number(row.interest_rate),
      punitory_interest_rate: number(row.punitory_interest_rate),
      paid: row.paid,
      started_at: digits(row.started_at_ms),
    }),

  contribution: (row) =>
    line({
      address: text(row.address),
      district_id: text(row.district_id),
      land_count: number(row.land_count),
      timestamp: digits(row.timestamp_ms),
    }),
}

/** Fields are JSON already, as money has more digits than a JavaScript number; undefined ones are left out. */
function line(fields: Readonly<Record<string, string | undefined>>): string {
  const written: string[] = []
  for (const name in fields) if (fields[name] !== undefined) written.push(`"${name}":${fields[name]}`)
  return `{${written.join(',')}}`
}

function data(
  row: { data_version: number; name: string | null; description: string | null; ipns: string | null },
  parcels?: ListedParcels,
): string {
  return line({
    version: number(row.data_version),
    name: unlessNull(row.name),
    description: unlessNull(row.description),
    ipns: unlessNull(row.ipns),
    parcels: parcels && JSON.stringify(parcels.map(({ x, y }) => ({ x, y }))),
  })
}

function tags(row: Database['parcel']): string {
  const plaza = near(row.plaza_district_id, row.plaza_distance)
  const road = near(row.road_district_id, row.road_distance)
  return plaza || road ? line({ proximity: line({ plaza, road }) }) : '{}'
}

function near(district_id: string | null, distance: number | null): string | undefined {
  return district_id === null ? undefined : JSON.stringify({ district_id, distance })
}

function text(value: string | null): string {
  return JSON.stringify(value)
}

function number(value: number | null): string {
  return String(value)
}

function digits(value: number | null): string {
  return value === null ? 'null' : `"${value}"`
}

function iso(timeMs: number): string {
  return `"${new Date(timeMs).toISOString()}"`
}

function unlessNull(value: string | number | null): string | undefined {
  return value === null ? undefined : JSON.stringify(value)
}
