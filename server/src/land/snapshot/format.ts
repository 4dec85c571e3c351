import type { ListingStatus, MortgageStatus } from '../../db/schema.ts'
import type { ExactNumber } from './exact-json.ts'

/** The snapshot format, version 1: the records as they stand in the files. Times are in ms where not said. */
export const FORMAT = 'land-snapshot'
export const FORMAT_VERSION = 1

/** The data sets, in the order in which an import reads them: each refers only to those before it. */
export const DATA_SETS = [
  'districts',
  'parcels',
  'estates',
  'publications',
  'bids',
  'mortgages',
  'contributions',
] as const

export type DataSetName = (typeof DATA_SETS)[number]

/** A JSON number that is money: a double where that is exact. */
export type JsonMoney = number | ExactNumber

export interface DistrictRecord {
  id: string
  name: string
  description: string
  link: string
  public: boolean
  disabled: boolean
  parcel_count: number
  center: string
  parcels: string[]
}

/** What an owner says about a parcel or an estate. A missing key is not the same as ''. */
export interface AssetData {
  version: number
  name?: string
  description?: string
  ipns?: string
}

export interface Proximity {
  district_id: string
  distance: number
}

export interface ParcelRecord {
  id: string
  x: number
  y: number
  token_id: string
  owner: string | null
  operator: string | null
  update_operator: string | null
  data: AssetData
  district_id: string | null
  estate_id: string | null
  tags: { proximity?: { plaza?: Proximity; road?: Proximity } }
  auction_price: JsonMoney | null
  auction_owner: string | null
  auction_timestamp: null
  last_transferred_at: string | null
  created_at: string
  updated_at: string
}

export interface EstateRecord {
  id: string
  tx_hash: string
  token_id: string
  owner: string
  operator: string | null
  update_operator: string | null
  data: AssetData & { parcels: { x: number; y: number }[] }
  last_transferred_at: string
  district_id: null
  created_at: string
  updated_at: string
}

interface AssetReference {
  asset_id: string
  asset_type: 'parcel' | 'estate'
}

export interface PublicationRecord extends AssetReference {
  tx_hash: string
  tx_status: string
  owner: string
  price: JsonMoney
  expires_at: number
  status: ListingStatus
  buyer: string | null
  contract_id: string
  block_number: number
  block_time_created_at: number
  block_time_updated_at: number | null
  marketplace_address: string
  created_at: string
  updated_at: string
}

export interface BidRecord extends AssetReference {
  id: string
  token_address: string
  token_id: string
  bidder: string
  seller: string
  price: JsonMoney
  expires_at: string
  fingerprint: string
  status: ListingStatus
  block_number: number
  block_time_created_at: string
  block_time_updated_at: string
  created_at: string
  updated_at: string
  /** Ours: the three are written when the chain said so, and may be missing. */
  tx_hash?: string
  log_index?: number
  contract_address?: string
}

export interface MortgageRecord extends AssetReference {
  tx_hash: string
  tx_status: string
  block_number: number
  status: MortgageStatus
  borrower: string
  lender: string | null
  loan_id: number
  mortgage_id: number
  amount: JsonMoney
  /** Seconds since 1970; '0' if the loan never started. */
  is_due_at: string
  expires_at: string
  block_time_created_at: string
  block_time_updated_at: string | null
  created_at: string
  updated_at: string
  outstanding_amount: JsonMoney
  /** A length of time in seconds. */
  payable_at: string
  interest_rate: number
  punitory_interest_rate: number
  paid: JsonMoney
  started_at: string | null
}

export interface ContributionRecord {
  address: string
  district_id: string
  land_count: number
  timestamp: string
}

export interface RecordOf {
  districts: DistrictRecord
  parcels: ParcelRecord
  estates: EstateRecord
  publications: PublicationRecord
  bids: BidRecord
  mortgages: MortgageRecord
  contributions: ContributionRecord
}
