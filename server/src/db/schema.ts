import type { ColumnType, Generated } from 'kysely'

/**
 * The tables, as rows come out of both engines: int8 as number (every one of ours is a safe integer), numeric as
 * its decimal text, jsonb parsed. Addresses and hashes are lower case. Units stand in the names.
 *
 * The tables of the land's records are not here: land/records/tables.ts adds them. Each of them is partitioned by
 * `world_id`: an import fills partitions of a new number beside the old ones, and one update of
 * `land_state.world_id` makes all of them the world at once.
 */
export interface Database {
  land_state: LandStateTable
  land_world: LandWorldTable
  land_change: LandChangeTable
  land_location: LandLocationTable
  land_right: LandRightTable
  trade_signature: TradeSignatureTable
  trade_index: TradeIndexTable
  signed_trade: SignedTradeTable
  listings_reading: ListingsReadingTable
  chain_position: ChainPositionTable
  chain_block: ChainBlockTable
  chain_undo: ChainUndoTable
  chain_history: ChainHistoryTable
  attendance_event: AttendanceEventTable
  claim_code: ClaimCodeTable
  claim: ClaimTable
  captcha: CaptchaTable
  seen_request: SeenRequestTable
  edit_code_guess: EditCodeGuessTable
  organiser_pass_generation: OrganiserPassGenerationTable
  issuer_token: IssuerTokenTable
  attendance_refusal: AttendanceRefusalTable
  issuer_failure: IssuerFailureTable
  event_count: EventCountTable
  event_place: EventPlaceTable
  event_hold: EventHoldTable
  attendance_rehearsal: AttendanceRehearsalTable
  token_key: TokenKeyTable
  made_event: MadeEventTable
  made_event_change: MadeEventChangeTable
  attendance_gift: AttendanceGiftTable
  event_edit_code: EventEditCodeTable
  token: TokenTable
  token_log: TokenLogTable
  token_log_root: TokenLogRootTable
  removed_revocation: RemovedRevocationTable
  attendance_blocked: AttendanceBlockedTable
  code_load: CodeLoadTable
  grant_secret: GrantSecretTable
  attendance_grant: AttendanceGrantTable
}

export type ChangeSubject = 'revision' | 'anything' | 'parcel' | 'estate' | 'publication' | 'bid'

/** One row: which world is shown, and the number behind every ETag. */
export interface LandStateTable {
  /** Random hex of this database's history: two databases never share a tag for different contents. */
  lineage: string
  world_id: number | null
  /** Raised by one with every committed change of the land tables. */
  revision: number
  changed_at_ms: number
}

/** One row: where the database was when its lineage was made. No row before the first start. */
export interface LandLocationTable {
  location: ColumnType<DatabaseLocation, string, string>
  /** The identity of the embedded database's folder; null with PostgreSQL. */
  folder: string | null
}

/** What the function `database_location` of the database answers. A part that is not allowed or known there is null. */
export interface DatabaseLocation {
  /** The system identifier of the PostgreSQL cluster. */
  readonly cluster: string | null
  /** A promoted standby and a restore to a point in time begin a new one. */
  readonly timeline: string | null
  /** Number of the database in its cluster: not that of a copy, even if the copy has the same name. */
  readonly database: number
  /** Number of the table `land_state`: another one after the table was dropped and restored. */
  readonly table: number
}

/** The worlds that have partitions. One that is neither shown nor being loaded is dropped after a while. */
export interface LandWorldTable {
  world_id: number
  created_at_ms: number
  /** When it stopped being the one that is shown; null while shown or loading. */
  retired_at_ms: number | null
  /** While an import fills it: when its lease ends unless it is renewed. Null for all others. */
  loading_until_ms: number | null
}

/** What a revision changed, by name: see land/changes/change-journal.ts. */
export interface LandChangeTable {
  revision: number
  world_id: number
  /** Each revision has one row `revision` (its changes are all named) or `anything` (they are not). */
  subject: ChangeSubject
  /** `x,y` of a parcel, id of an estate, key of a publication or a bid; else the time of the change in milliseconds. */
  key: string
}

/** A right over all land of an owner: there is a row while it is granted. */
export interface LandRightTable {
  world_id: number
  kind: 'approval' | 'manager'
  registry: 'parcel' | 'estate'
  owner: string
  operator: string
}

/** What the chain says of a trade that was signed off the chain. */
export interface TradeSignatureTable {
  world_id: number
  marketplace: string
  signer: string
  signature_key: string
  is_cancelled: boolean
  uses: number
}

/** The index that signed trades of a signer must have at least; '' is the signer of all trades of the contract. */
export interface TradeIndexTable {
  world_id: number
  marketplace: string
  signer: string
  /** Decimal digits, up to 256 bits. */
  value: string
  /** Only for the whole contract. */
  is_paused: boolean
}

/** An offer of land that was signed off the chain. */
export interface SignedTradeTable {
  /** The server's name for it. */
  id: string
  /** Whether it sells, or rents out: the name of what has read it. */
  reading: 'listings' | 'rentals'
  /** JSON of its checked fields. */
  trade: string
  marketplace: string
  signer: string
  signature_hash: string
  /** Under which the marketplace counts uses and cancellations. */
  signature_key: string
  is_signed: boolean
  asset_type: 'parcel' | 'estate'
  asset_id: string
  currency: 'mana' | 'usd'
  /** Decimal text, of MANA or of dollars. */
  price: string
  /** The fingerprint of the estate when it was signed, in hex. */
  fingerprint: string
  /** This and the next two: decimal digits, up to 256 bits. */
  uses: string
  contract_index: string
  signer_index: string
  /** Only for an offer to rent: decimal digits, up to 256 bits. */
  asset_index: string | null
  /** Only for an offer to rent: JSON of its periods. Its `price` is the lowest one for a day. */
  periods: string | null
  effective_at_ms: number
  expires_at_ms: number
  created_at_ms: number
  /** When the server named it last. */
  seen_at_ms: number
  /** In the world that offers are judged in; null before it was judged there. */
  state: string | null
  state_reason: string | null
  /** From then on it has another state, though nothing is logged; null where it has not. */
  due_at_ms: number | null
  /** Only for an offer that the key of its signer did not sign: the call that asks the signer, if it is a contract, whether it did. */
  wallet_call: string | null
  /** When it said last whether it did; null where no node was asked. */
  wallet_asked_at_ms: number | null
}

/** A marketplace server that offers are read from. */
export interface ListingsReadingTable {
  name: string
  /** The process that reads it. */
  holder: string | null
  lease_until_ms: number
  /** Whether its offers are among the publications. */
  is_shown: boolean
  /** The world that all of its offers were judged in. */
  world_id: number | null
  /** When the last reading of all offers ended. */
  read_at_ms: number | null
  state: 'reading' | 'following' | 'failing'
  /** Why it is failing, or leaves out offers: for everyone. */
  reason: string | null
}

/** How far a world follows the chain. A world that is not followed has no row. */
export interface ChainPositionTable {
  world_id: number
  chain_id: number
  /** The hash of the addresses and start blocks of the network's contracts. */
  contracts_hash: string
  /** The version of the rules that made the rows. */
  rules_version: number
  /** The last block whose events are in the rows. */
  block_number: number
  block_hash: string
  block_time_s: number
  /** The last block that the network has declared final: nothing at or below it is ever undone. */
  finalized_number: number
  finalized_hash: string
  /** The process that may write until its lease ends; null for none. */
  holder: string | null
  lease_until_ms: number
  /** Raised by one with each change of the holder. */
  epoch: number
  /** What the holder last said of itself, for all processes to show. */
  status: string | null
  /** How far the land has been compared with the contracts, in JSON; null before the first comparison. */
  completeness: string | null
}

/** The last final block and the applied ones after it, of which the chain may still take another branch. */
export interface ChainBlockTable {
  world_id: number
  number: number
  hash: string
  parent_hash: string
  time_s: number
  /** The digest of the logs that were applied; null where it is not known. */
  logs_digest: string | null
}

/** A row as it was before a block that can still be undone: one for each row that the block changed. */
export interface ChainUndoTable {
  world_id: number
  block_number: number
  table_name: string
  /** The columns that name the row, without the number of its world. */
  key: ColumnType<Record<string, unknown>, string, string>
  /** The row without the number of its world; null where there was none. */
  before: ColumnType<Record<string, unknown> | null, string | null, string | null>
}

/** A process that reads the history of the chain. There is a row while it does, and until the lease ends if it was killed. */
export interface ChainHistoryTable {
  /** Names the process. */
  holder: string
  network: string
  chain_id: number
  /** How far it is: a sentence for everyone. */
  progress: string
  /** By the clock of the database. */
  lease_until_ms: number
}

/** An event at the issuer that an organiser registered here. */
export interface AttendanceEventTable {
  /** The issuer's number. */
  event_id: number
  /** Our own id, which scenes use. */
  uuid: string
  /** The issuer's description of the event, without secrets. */
  issuer_record: ColumnType<Record<string, unknown>, string, string>
  /** `x,y;x,y`, in the registered order. */
  coordinates: string
  enabled: boolean
  /** The organiser cancelled the event, which gives out no tokens then. */
  is_cancelled: Generated<boolean>
  /** The IANA name of the zone in which the organiser reads the times of an event made here; null where none was chosen. */
  time_zone: Generated<string | null>
  /** For signed claims too; unsigned ones always need a captcha. */
  requires_captcha: boolean
  requires_presence: boolean
  /** Whether a claim needs a grant: see attendance/grants/. */
  requires_grant: Generated<boolean>
  distribution_start_at_ms: number | null
  distribution_end_at_ms: number | null
  /** When the issuer's last day is over everywhere on Earth. */
  expires_at_ms: number | null
  /** When the issuer was last asked for codes. */
  codes_asked_at_ms: number | null
  /** Until when previews of scenes can rehearse claims; null for no rehearsal. */
  rehearsal_until_ms: Generated<number | null>
  /** Whether a player who plays as a guest may claim. */
  allows_guests: Generated<boolean>
  created_at_ms: number
  updated_at_ms: number
}

/**
 * `free`: for the next claim. `held`: a claim has it. `used`: a claim of ours became a token with it.
 * `used_elsewhere`: it was used without this server. `void`: the issuer does not know it, or no longer accepts it.
 */
export type CodeState = 'free' | 'held' | 'used' | 'used_elsewhere' | 'void'

/** A code that the other issuer turns into a token, once. */
export interface ClaimCodeTable {
  id: Generated<number>
  event_id: number
  /** Keyed hash of the code: finds it again without reading it. */
  fingerprint: Buffer
  /** The code, encrypted: see attendance/secrets/vault.ts. */
  encrypted: Buffer
  state: CodeState
  created_at_ms: number
}

/** See attendance/claims/claim-steps.ts for what moves a claim from one to the next. */
export type ClaimState = 'reserved' | 'minting' | 'minted' | 'failed' | 'released'

/** One player getting one token of one event. */
export interface ClaimTable {
  id: Generated<number>
  event_id: number
  address: string
  /** Null where the code went back, and for events that were made here, whose claims have places. */
  code_id: number | null
  state: ClaimState
  /** Why it failed or was released: a word for programs. */
  reason: string | null
  tx_hash: string | null
  /** The code for which the issuer was last asked for a token; a definite refusal may have followed. */
  asked_code_id: Generated<number | null>
  /** Steps that were tried since the claim last moved. */
  attempts: number
  /** When the claim worker takes it up next; in the future while a worker has it. Null once it is settled. */
  next_step_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
}

/** The pending captcha of a player. */
export interface CaptchaTable {
  uuid: string
  address: string
  /** The event of the right answer, when the captcha was given back: it counts for no other. */
  event_id: number | null
  /** Answer and seed of the drawing, encrypted. */
  encrypted: Buffer
  /** Whether it was requested in a scene's preview. */
  is_preview: boolean
  /** Whether a player who plays as a guest requested it. */
  is_guest: Generated<boolean>
  /** Signed tries that are left. */
  tries: number
  /** One entry for each unsigned try: a keyed hash of the network address that sent it. */
  unsigned_tries: Generated<number[]>
  expires_at_ms: number
}

/** Signed requests that were used, until their time is over. */
export interface SeenRequestTable {
  /** The event of the signed path; 0 where it names none. */
  event_id: number
  hash: Buffer
  expires_at_ms: number
}

/** Edit codes that the issuer rejected, or is checking. */
export interface EditCodeGuessTable {
  id: Generated<number>
  event_id: number
  at_ms: number
  /** False while the issuer checks it: it may still be right. */
  is_judged: boolean
  /** What limits it: `open`, `paid`, or `pass` and the id of a pass. `spent` counts in none. */
  budget: string
  /** The random part of the challenge that was solved for it: each can be used once. */
  challenge: string | null
}

/** Events whose passes were revoked: passes of an earlier generation are refused. No row is generation 0. */
export interface OrganiserPassGenerationTable {
  event_id: number
  generation: number
}

/** One row: the issuer's access token, shared by all processes. */
export interface IssuerTokenTable {
  encrypted: Buffer | null
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

/** What a player did in the rehearsal of an event. */
export interface AttendanceRehearsalTable {
  event_id: number
  /** In lower case. */
  address: string
  /** When the player's rehearsed claim succeeded; null where all were refused. */
  claimed_at_ms: number | null
  /** How many rehearsed claims were refused. */
  refusals: number
  /** The last of them. */
  at_ms: number
}

/** The last failed calls to the issuer for an event. */
export interface IssuerFailureTable {
  id: Generated<number>
  event_id: number
  at_ms: number
  /** Which call: a method of the issuer (attendance/issuers/issuer.ts), or `token`. */
  call: string
  kind: string
  status: number | null
}

/**
 * How many codes and claims of an event are in each state: see attendance/events/event-count-queries.ts. The count of an event is the
 * sum over all stripes; a single row can be below zero.
 */
export interface EventCountTable extends Record<CodeState | ClaimState, number> {
  /** How many grants expired unused and were deleted. */
  grants_expired: Generated<number>
  /** How many tokens addresses of a list were given. */
  gifts_given: Generated<number>
  event_id: number
  /** The hour in which the claims were made; -1 for the totals. Only the totals have counts of codes. */
  hour_ms: number
  /** Connections change different rows, so that they do not wait for each other. */
  stripe: number
}

/** The places of an event that was made here: see attendance/events/place-queries.ts. */
export interface EventPlaceTable {
  event_id: number
  /** How many tokens it may give out in all; 0 while the operator has not approved it. */
  places: number
  /** How many claims have a place. */
  taken: number
  /** As in `attendance_event`; here, because claims lock this row. */
  is_cancelled: Generated<boolean>
}

/** Why claims of an event are held: see attendance/events/event-holds.ts. */
export type HoldReason = 'unknown_codes' | 'other_beneficiary'

/** An event whose codes the issuer answered contradictorily. The row is deleted when the issuer accepts a claim of it. */
export interface EventHoldTable {
  event_id: number
  /** The reason of the last contradictory answer. */
  reason: HoldReason
  /** Contradictory answers since the last claim that the issuer accepted. */
  answers: number
  /** The code of the first one, which became void: it is free again when the event is held. */
  doubted_code_id: number | null
  /** Since when no claim of the event asks for a token; null while there was only one such answer. */
  held_at_ms: number | null
  /** When one claim asks again. */
  probe_at_ms: number | null
  /** How many claims have asked since then. */
  probes: number
}

/** A key of our own issuer. The key itself is in a file: see attendance/issuers/own/keys/token-keys.ts. */
export interface TokenKeyTable {
  /** In lower case. */
  address: string
  /** From when on it signs, in seconds. */
  from_s: number
  /** Until when it signs; null for the last one. */
  until_s: number | null
  /** When the operator learned that somebody else may have it. */
  withdrawn_at_s: number | null
  created_at_ms: number
}

/** `waiting`: the operator has not answered. Only an approved event has codes. */
export type Approval = 'waiting' | 'approved' | 'refused'

/** An event of our own issuer. */
export interface MadeEventTable {
  event_id: number
  /** SHA-256 of the edit code, which has 128 random bits. */
  edit_code_hash: Buffer
  /** How many tokens there can be. */
  supply: number
  approval: Approval
  /** Whether lists of holders are for the organiser alone. */
  hides_holders: boolean
  /** Its picture as a PNG; null where it has none. */
  image: Buffer | null
  /** Whether the picture was drawn from the map of its places. */
  draws_image: Generated<boolean>
  made_at_ms: number
  /** Whether the maker got the edit code: false until the answer was sent. */
  is_answered: Generated<boolean>
  /** Raised with every change of what the operator reads. */
  version: Generated<number>
  /** Why the operator approved or refused the event, for its organiser. */
  reason: Generated<string | null>
  /** When the operator last answered for the event; null before, and where a version without this column stored the answer. */
  decided_at_ms: Generated<number | null>
  /** Whether the operator lets its organiser give tokens to a list of addresses, where the operator approves events. */
  may_give: Generated<boolean>
}

/** An address to which an organiser gives a token: deleted when it has one. */
export interface AttendanceGiftTable {
  /** In the order of the lists. */
  id: Generated<number>
  event_id: number
  /** In lower case. */
  address: string
}

/** A change of an event that waits for the operator while the event stays as it is, or the last one that was refused. */
export interface MadeEventChangeTable {
  event_id: number
  /** Null: not changed, as in the next five columns. */
  description: string | null
  coordinates: string | null
  supply: number | null
  name: string | null
  event_url: string | null
  /** A picture as a PNG. */
  image: Buffer | null
  /** Whether the picture was drawn from the map of the changed places. */
  draws_image: Generated<boolean>
  is_refused: Generated<boolean>
  /** Why it was refused. */
  reason: Generated<string | null>
  sent_at_ms: number
}

/** An edit code of an event, besides the first one that its maker got. */
export interface EventEditCodeTable {
  id: string
  event_id: number
  /** Whose it is; null for a first code that the operator issued anew. */
  name: string | null
  /** SHA-256; null when the code ended, and for a first code, whose hash stands in {@link MadeEventTable}. */
  code_hash: Buffer | null
  made_at_ms: number
  /** Null while it is valid. */
  ended_at_ms: number | null
}

/** A token of our own issuer: what is signed, and the signature once there is one. */
export interface TokenTable {
  id: string
  event_id: number
  /** The holder, in lower case. */
  address: string
  /** The address of the key, in lower case. */
  signer: string
  /** When the claim was accepted, in seconds. */
  time_s: number
  event_name: string
  event_location: string
  salt: Buffer
  /** Which of the event's tokens it is, from 1 on: the place of its claim. */
  number: number
  /** Null until it is signed, as `signature`. */
  uid: Buffer | null
  /** r, s and v: 65 bytes. */
  signature: Buffer | null
  revoked_at_s: number | null
  revoked_reason: string | null
  /** Whether the log has it. */
  is_logged: Generated<boolean>
}

/** The public log of tokens: one row for each, in an order without gaps that never changes. */
export interface TokenLogTable {
  /** From 0 on. */
  position: number
  token_id: string
  uid: Buffer
  signer: string
  noted_at_ms: number
}

/** The Merkle root of the log as it was at the end of a day. */
/** A revoked token whose row an operator has removed. */
export interface RemovedRevocationTable {
  uid: Buffer
  signer: string
  revoked_at_s: number
}
export interface TokenLogRootTable {
  /** Days since 1970-01-01, UTC. */
  day: number
  leaves: number
  root: Buffer
  made_at_ms: number
}

/** Players whose claims the organiser of an event refuses. */
export interface AttendanceBlockedTable {
  event_id: number
  /** In lower case. */
  address: string
  since_ms: number
}

/** Events whose codes are loaded as soon as the issuer has approved them: see attendance/codes/pending-loads.ts. */
export interface CodeLoadTable {
  event_id: number
  /** The edit code, encrypted: see attendance/secrets/vault.ts. */
  encrypted: Buffer
  /** When the row is deleted at the latest. */
  until_ms: number
  /** When the issuer is asked next; in the future while a process asks. */
  next_try_at_ms: number
  last_try_at_ms: number | null
}

/** What a program of the organiser signs grants with. */
export interface GrantSecretTable {
  id: Generated<number>
  event_id: number
  /** The secret, encrypted: see attendance/secrets/vault.ts. */
  encrypted: Buffer
  created_at_ms: number
  /** Null: the current one. */
  valid_until_ms: number | null
}

/** A signed permission for one player to claim a token of one event. */
export interface AttendanceGrantTable {
  event_id: number
  /** Chosen by the program that gave it; names it within the event. */
  nonce: string
  address: string
  expires_at_ms: number
  /** The claim that has used it; null while it is unused. A claim that failed keeps it for the next try. */
  claim_id: number | null
}
