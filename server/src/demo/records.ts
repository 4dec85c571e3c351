import type { AssetType } from '../land/records/assets.ts'
import type { ListingStatus } from '../land/records/statuses.ts'
import type { MortgageStatus } from '../land/records/mortgage.ts'

/**
 * A number as it stands in the file, digit for digit: prices have up to eighteen decimals, more than a
 * JavaScript number can hold.
 */
export class RawNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The records of a snapshot, fields in the order of its format. */
export interface DistrictRecord {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly link: string
  readonly public: boolean
  readonly disabled: boolean
  readonly parcel_count: number
  readonly center: string
  readonly parcels: readonly string[]
}

export interface ContributionRecord {
  readonly address: string
  readonly district_id: string
  readonly land_count: number
  /** Milliseconds, as text. */
  readonly timestamp: string
}

export interface NearestRecord {
  readonly district_id: string
  readonly distance: number
}

export interface ParcelData {
  readonly version: number
  readonly name?: string
  readonly description?: string
  readonly ipns?: string
}

export interface ParcelRecord {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly token_id: string
  readonly owner: string | null
  readonly operator: string | null
  readonly update_operator: string | null
  readonly data: ParcelData
  readonly district_id: string | null
  readonly estate_id: string | null
  readonly tags: { readonly proximity?: { readonly plaza?: NearestRecord; readonly road?: NearestRecord } }
  readonly auction_price: number | null
  readonly auction_owner: string | null
  readonly auction_timestamp: null
  /** Milliseconds, as text. */
  readonly last_transferred_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface EstateRecord {
  readonly id: string
  readonly tx_hash: string
  readonly token_id: string
  readonly owner: string
  readonly operator: string | null
  readonly update_operator: string | null
  readonly data: {
    readonly version: number
    readonly name: string
    readonly description: string
    readonly ipns: string
    readonly parcels: readonly { readonly x: number; readonly y: number }[]
  }
  /** Milliseconds, as text. */
  readonly last_transferred_at: string
  readonly district_id: null
  readonly created_at: string
  readonly updated_at: string
}

export interface PublicationRecord {
  readonly tx_hash: string
  readonly tx_status: string
  readonly owner: string
  readonly price: RawNumber
  /** Milliseconds, like the two block times: numbers here, text in the other files. */
  readonly expires_at: number
  readonly status: ListingStatus
  readonly buyer: string | null
  readonly contract_id: string
  readonly block_number: number
  readonly block_time_created_at: number
  readonly block_time_updated_at: number | null
  readonly asset_id: string
  readonly asset_type: AssetType
  readonly marketplace_address: string
  readonly created_at: string
  readonly updated_at: string
}

export interface BidRecord {
  readonly id: string
  readonly token_address: string
  readonly token_id: string
  readonly bidder: string
  readonly seller: string
  readonly price: RawNumber
  readonly expires_at: string
  readonly fingerprint: string
  readonly status: ListingStatus
  readonly asset_id: string
  readonly asset_type: AssetType
  readonly block_number: number
  readonly block_time_created_at: string
  readonly block_time_updated_at: string
  readonly created_at: string
  readonly updated_at: string
}

export interface MortgageRecord {
  readonly tx_hash: string
  readonly tx_status: string
  readonly block_number: number
  readonly status: MortgageStatus
  readonly asset_id: string
  readonly asset_type: AssetType
  readonly borrower: string
  readonly lender: string | null
  readonly loan_id: number
  readonly mortgage_id: number
  readonly amount: RawNumber
  /** Seconds, as text. */
  readonly is_due_at: string
  readonly expires_at: string
  readonly block_time_created_at: string
  readonly block_time_updated_at: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly outstanding_amount: RawNumber
  /** Seconds, as text: a length of time. */
  readonly payable_at: string
  readonly interest_rate: number
  readonly punitory_interest_rate: number
  readonly paid: RawNumber
  readonly started_at: string | null
}
