import type { ColumnType, Generated } from 'kysely'

/**
 * The tables, as rows come out of both engines: int8 as number (every one of ours is a safe integer), numeric as
 * its decimal text, jsonb parsed. Addresses and hashes are lower case. Units stand in the names.
 *
 * Every land table is partitioned by `world_id`: an import fills partitions of a new number beside the old ones,
 * and one update of `land_state.world_id` makes all of them the world at once (see migrations/0001-land.ts).
 */
export interface Database {
  land_state: LandStateTable
  land_world: LandWorldTable
  land_change: LandChangeTable
  district: DistrictTable
  parcel: ParcelTable
  estate: EstateTable
  publication: PublicationTable
  bid: BidTable
  mortgage: MortgageTable
  contribution: ContributionTable
  attendance_event: AttendanceEventTable
  claim_code: ClaimCodeTable
  claim: ClaimTable
  captcha: CaptchaTable
  seen_request: SeenRequestTable
  edit_code_guess: EditCodeGuessTable
  issuer_token: IssuerTokenTable
  attendance_refusal: AttendanceRefusalTable
  issuer_failure: IssuerFailureTable
}

/** The tables that are partitioned by world, in the order in which an import fills them. */
export const LAND_TABLES = [
  'district',
  'parcel',
  'estate',
  'publication',
  'bid',
  'mortgage',
  'contribution',
] as const satisfies readonly (keyof Database)[]

export type LandTable = (typeof LAND_TABLES)[number]

export type ListingStatus = 'open' | 'cancelled' | 'sold'
export type MortgageStatus = 'pending' | 'cancelled' | 'ongoing' | 'paid' | 'defaulted' | 'claimed'
export type AssetType = 'parcel' | 'estate'
export type ChangeSubject = 'revision' | 'anything' | 'parcel' | 'estate' | 'publication'

/** One row: which world is shown, and the number behind every ETag. */
export interface LandStateTable {
  /** Random hex of this database's history: two databases never share a tag for different contents. */
  lineage: string
  world_id: number | null
  /** Raised by one with every committed change of the land tables. */
  revision: number
  changed_at_ms: number
}

/** The worlds that have partitions. One that is neither shown nor being loaded is dropped after a while. */
export interface LandWorldTable {
  world_id: number
  created_at_ms: number
  /** When it stopped being the one that is shown; null while shown or loading. */
  retired_at_ms: number | null
  /** While an import fills it: until when that may be silent before it counts as dead. Null for all others. */
  loading_until_ms: number | null
}

/** What a revision changed, by name: see land/changes/change-journal.ts. */
export interface LandChangeTable {
  revision: number
  world_id: number
  /** Each revision has one row `revision` (its changes are all named) or `anything` (they are not). */
  subject: ChangeSubject
  /** `x,y` of a parcel, id of an estate, key of a publication; else the time of the change in milliseconds. */
  key: string
}

export interface DistrictTable {
  world_id: number
  id: string
  /** Place in the snapshot's list. */
  position: number
  name: string
  description: string
  link: string
  public: boolean
  disabled: boolean
  /** `x,y` */
  center: string
}

export interface ParcelTable {
  world_id: number
  x: number
  y: number
  owner: string | null
  operator: string | null
  update_operator: string | null
  data_version: number
  /** `data.name` and the two after it: null where the key is missing, which is not the same as ''. */
  name: string | null
  description: string | null
  ipns: string | null
  district_id: string | null
  /** Place in the district's list of parcels. */
  district_position: number | null
  estate_id: string | null
  /** Place in the estate's list of parcels, the order in which they were added. */
  estate_position: number | null
  plaza_district_id: string | null
  plaza_distance: number | null
  road_district_id: string | null
  road_distance: number | null
  auction_price: string | null
  auction_owner: string | null
  last_transferred_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
}

export interface EstateTable {
  world_id: number
  /** Decimal digits; ordered as a number. */
  id: string
  token_id: string
  tx_hash: string
  owner: string
  operator: string | null
  update_operator: string | null
  data_version: number
  name: string | null
  description: string | null
  ipns: string | null
  last_transferred_at_ms: number
  district_id: string | null
  created_at_ms: number
  updated_at_ms: number
}

export interface PublicationTable {
  world_id: number
  /** Our own number, in order of creation: neither tx_hash nor contract_id is unique in real history. */
  key: number
  tx_hash: string
  tx_status: string
  owner: string
  price: string
  expires_at_ms: number
  status: ListingStatus
  buyer: string | null
  contract_id: string
  block_number: number
  block_time_created_at_ms: number
  block_time_updated_at_ms: number | null
  asset_id: string
  asset_type: AssetType
  marketplace_address: string
  created_at_ms: number
  updated_at_ms: number
}

export interface BidTable {
  world_id: number
  /** Our own number, in order of creation. */
  key: number
  id: string
  token_address: string
  token_id: string
  bidder: string
  seller: string
  price: string
  expires_at_ms: number
  fingerprint: string
  status: ListingStatus
  asset_id: string
  asset_type: AssetType
  block_number: number
  block_time_created_at_ms: number
  block_time_updated_at_ms: number
  created_at_ms: number
  updated_at_ms: number
  /** Where the chain says so; a snapshot may leave the three out. */
  tx_hash: string | null
  log_index: number | null
  contract_address: string | null
}

export interface MortgageTable {
  world_id: number
  /** Our own number, in order of creation. */
  key: number
  tx_hash: string
  tx_status: string
  block_number: number
  status: MortgageStatus
  asset_id: string
  asset_type: AssetType
  borrower: string
  lender: string | null
  loan_id: number
  mortgage_id: number
  amount: string
  /** Seconds since 1970, 0 if the loan never started (the loan contract speaks in seconds). */
  is_due_at_s: number
  expires_at_ms: number
  block_time_created_at_ms: number
  block_time_updated_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
  outstanding_amount: string
  /** A length of time in seconds, not a date. */
  payable_at_s: number
  interest_rate: number
  punitory_interest_rate: number
  paid: string
  started_at_ms: number | null
}

export interface ContributionTable {
  world_id: number
  /** Our own number, in order of time. */
  key: number
  address: string
  district_id: string
  land_count: number
  timestamp_ms: number
}

/** An event at the issuer that an organiser registered here. */
export interface AttendanceEventTable {
  /** The issuer's number. */
  event_id: number
  /** Ours: what scenes know. */
  uuid: string
  /** What the issuer said of the event, without anything secret. */
  issuer_record: ColumnType<Record<string, unknown>, string, string>
  /** `x,y;x,y`, in the registered order. */
  coordinates: string
  enabled: boolean
  /** Of signed claims too; unsigned ones always need one. */
  requires_captcha: boolean
  requires_presence: boolean
  distribution_start_at_ms: number | null
  distribution_end_at_ms: number | null
  /** When the issuer's last day is over everywhere on Earth. */
  expires_at_ms: number | null
  /** When the issuer was last asked for codes. */
  codes_asked_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
}

/**
 * `free`: for the next claim. `held`: a claim has it. `used`: a claim of ours became a token with it.
 * `used_elsewhere`: somebody used it without us. `void`: the issuer does not know it, or no longer takes it.
 */
export type CodeState = 'free' | 'held' | 'used' | 'used_elsewhere' | 'void'

/** A code that the issuer turns into a token, once. */
export interface ClaimCodeTable {
  id: Generated<number>
  event_id: number
  /** Keyed hash of the code: finds it again without reading it. */
  fingerprint: Buffer
  /** The code, encrypted: see attendance/vault.ts. */
  sealed: Buffer
  state: CodeState
  created_at_ms: number
}

/** See attendance/claims/claim-states.ts for what moves a claim from one to the next. */
export type ClaimState = 'reserved' | 'minting' | 'minted' | 'failed' | 'released'

/** One player getting one token of one event. */
export interface ClaimTable {
  id: Generated<number>
  event_id: number
  address: string
  /** Null where the code went back. */
  code_id: number | null
  state: ClaimState
  /** Why it failed or was released: a word for programs. */
  reason: string | null
  tx_hash: string | null
  /** Steps that were tried since the claim last moved. */
  attempts: number
  /** When somebody has to look after it next; in the future while somebody does. Null once it is settled. */
  next_step_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
}

/** The pending captcha of a player. */
export interface CaptchaTable {
  uuid: string
  address: string
  /** The event of the first try: it counts for no other. */
  event_id: number | null
  /** Answer and seed of the drawing, encrypted. */
  sealed: Buffer
  /** Was it asked for in a scene's preview? */
  is_preview: boolean
  /** Tries that are left. */
  tries: number
  expires_at_ms: number
}

/** Signed requests that were used, until their time is over. */
export interface SeenRequestTable {
  hash: Buffer
  expires_at_ms: number
}

/** Edit codes that the issuer judged wrong, or is judging. */
export interface EditCodeGuessTable {
  id: Generated<number>
  event_id: number
  at_ms: number
  /** False while it is being judged: it may still turn out right. */
  is_judged: boolean
}

/** One row: the issuer's access token, shared by all processes. */
export interface IssuerTokenTable {
  sealed: Buffer | null
  expires_at_ms: number
  /** When tokens were asked for, of the last hour. */
  asked_at_ms: number[]
  /** While a process asks for one. */
  asking_until_ms: number
}

/** How often claims of an event were refused, by hour and error code. */
export interface AttendanceRefusalTable {
  event_id: number
  hour_ms: number
  code: string
  count: number
}

/** The last failures of the issuer in matters of an event. */
export interface IssuerFailureTable {
  id: Generated<number>
  event_id: number
  at_ms: number
  /** Which call: a method of the issuer (attendance/issuer/issuer.ts), or `token`. */
  call: string
  kind: string
  status: number | null
}
