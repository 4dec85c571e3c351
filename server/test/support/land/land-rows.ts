import { createHash } from 'node:crypto'
import { HOUR_MS } from '../../../src/clock.ts'
import { REFERENCE_TIME_MS } from '../http/land-server.ts'
import type { LandChange } from './land-changes.ts'

/** A hash or address that is as good as any other, and the same every time. */
export function hashOf(name: string): string {
  return `0x${createHash('sha256').update(name).digest('hex')}`
}

export function addressOf(name: string): string {
  return hashOf(name).slice(0, 42)
}

type NewPublication = Extract<LandChange, { kind: 'open-publication' }>['publication']
type NewEstate = Extract<LandChange, { kind: 'create-estate' }>['estate']
type NewBid = Extract<LandChange, { kind: 'place-bid' }>['bid']

/** An open offer of a parcel, made an hour ago and good for a year, unless a test says otherwise. */
export function publicationRow(name: string, facts: Partial<NewPublication>): NewPublication {
  const madeAtMs = facts.block_time_created_at_ms ?? REFERENCE_TIME_MS - HOUR_MS
  return {
    tx_hash: hashOf(`transaction of ${name}`),
    tx_status: 'confirmed',
    owner: addressOf('seller'),
    price: '1000',
    expires_at_ms: REFERENCE_TIME_MS + YEAR_MS,
    status: 'open',
    buyer: null,
    contract_id: hashOf(`contract id of ${name}`),
    block_number: 24_000_000,
    block_time_created_at_ms: madeAtMs,
    block_time_updated_at_ms: null,
    asset_id: '0,0',
    asset_type: 'parcel',
    marketplace_address: addressOf('marketplace'),
    created_at_ms: madeAtMs + 5_000,
    updated_at_ms: madeAtMs + 5_000,
    log_index: null,
    closed_by: null,
    closed_tx_hash: null,
    trade_id: null,
    sold_size: null,
    sold_source: null,
    sold_block_number: null,
    sold_log_index: null,
    ...facts,
  }
}

/** An estate that was made an hour ago; which parcels it has is theirs to say. */
export function estateRow(id: string, facts: Partial<NewEstate> = {}): NewEstate {
  const madeAtMs = REFERENCE_TIME_MS - HOUR_MS
  return {
    id,
    token_id: id,
    tx_hash: hashOf(`transaction of estate ${id}`),
    owner: addressOf('seller'),
    operator: null,
    update_operator: null,
    data_version: 0,
    name: `Estate ${id}`,
    description: '',
    ipns: '',
    last_transferred_at_ms: madeAtMs,
    district_id: null,
    created_at_ms: madeAtMs,
    updated_at_ms: madeAtMs,
    ...facts,
  }
}

export function bidRow(name: string, facts: Partial<NewBid>): NewBid {
  const madeAtMs = facts.block_time_created_at_ms ?? REFERENCE_TIME_MS - HOUR_MS
  return {
    id: hashOf(`bid ${name}`),
    token_address: addressOf('registry'),
    token_id: '0',
    bidder: addressOf('bidder'),
    seller: addressOf('seller'),
    price: '900',
    expires_at_ms: REFERENCE_TIME_MS + YEAR_MS,
    fingerprint: '0x',
    status: 'open',
    asset_id: '0,0',
    asset_type: 'parcel',
    block_number: 24_000_000,
    block_time_created_at_ms: madeAtMs,
    block_time_updated_at_ms: madeAtMs,
    created_at_ms: madeAtMs + 5_000,
    updated_at_ms: madeAtMs + 5_000,
    tx_hash: null,
    log_index: null,
    contract_address: null,
    closed_by: null,
    closed_tx_hash: null,
    sold_size: null,
    sold_log_index: null,
    ...facts,
  }
}

const YEAR_MS = 365 * 24 * HOUR_MS
