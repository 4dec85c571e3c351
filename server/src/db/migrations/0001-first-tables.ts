import { type Kysely, sql } from 'kysely'

/**
 * All tables. `db/tables.txt` shows what they come to, and `db/schema.ts` says what each column means. A database is never taken
 * back to an earlier migration, so there is no `down`.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of [...LAND, ...CHAIN, ...ATTENDANCE, ...OWN_ISSUER, ...FUNCTIONS])
    await sql.raw(statement).execute(db)
}

/**
 * The tables of the land's records are partitioned by `world_id`: an import fills new partitions that no reader uses yet, and an
 * old world is removed by DROP, which takes milliseconds on the embedded engine. A DELETE and its VACUUM would block readers
 * for seconds. Columns that a snapshot may leave out can be null: null then says the same as an empty list, or is unknown.
 */
const LAND = [
  `create table land_state (
    only_row boolean primary key default true check (only_row),
    lineage text not null,
    world_id integer,
    revision bigint not null,
    changed_at_ms bigint not null
  )`,
  `insert into land_state (lineage, world_id, revision, changed_at_ms)
   values (substr(md5(random()::text || clock_timestamp()::text), 1, 12), null, 0, 0)`,
  // Where the database is: land/changes/lineage.ts
  `create table land_location (
    only_row boolean primary key default true check (only_row),
    location jsonb not null,
    folder text
  )`,
  // With the rights of the role that migrated, so that all processes get the same answer. A function that is not
  // allowed there, or does not exist at a provider, leaves its part out.
  `create function database_location(of_table oid) returns jsonb
   language plpgsql stable security definer set search_path = pg_catalog as $$
   declare
     cluster text;
     timeline text;
   begin
     if pg_is_in_recovery() then return null; end if;
     begin
       select system_identifier::text into cluster from pg_control_system();
     exception when others then cluster := null;
     end;
     begin
       timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
     exception when others then timeline := null;
     end;
     return jsonb_build_object(
       'cluster', cluster,
       'timeline', timeline,
       'database', (select oid::bigint from pg_database where datname = current_database()),
       'table', of_table::bigint);
   end $$`,
  `create sequence land_world_id`,
  `create table land_world (
    world_id integer primary key,
    created_at_ms bigint not null,
    retired_at_ms bigint,
    loading_until_ms bigint
  )`,
  // Not partitioned: it names a few thousand subjects of the world that is shown, and is emptied when another world takes its
  // place (land/changes/change-journal.ts)
  `create table land_change (
    revision bigint not null,
    world_id integer not null,
    subject text not null check (subject in ('revision', 'anything', 'parcel', 'estate', 'publication', 'bid')),
    key text not null,
    primary key (revision, subject, key)
  )`,
  `create table district (
    world_id integer not null,
    id uuid not null,
    position integer not null,
    name text not null,
    description text not null,
    link text not null,
    public boolean not null,
    disabled boolean not null,
    center text not null,
    primary key (world_id, id)
  ) partition by list (world_id)`,
  `create table parcel (
    world_id integer not null,
    x integer not null,
    y integer not null,
    owner text,
    operator text,
    update_operator text,
    data_version integer not null,
    name text,
    description text,
    ipns text,
    data_text text,
    district_id uuid,
    district_position integer,
    estate_id text,
    estate_position integer,
    plaza_district_id uuid,
    plaza_distance integer,
    road_district_id uuid,
    road_distance integer,
    auction_price numeric,
    auction_owner text,
    auctioned_at_ms bigint,
    auction_block_number bigint,
    auction_tx_hash text,
    auction_log_index integer,
    approvals_for_all text[],
    update_managers text[],
    holder text,
    tenant text,
    rented_until_ms bigint,
    last_transferred_at_ms bigint,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    primary key (world_id, x, y)
  ) partition by list (world_id)`,
  `create index parcel_by_estate on parcel (estate_id) where estate_id is not null`,
  // Each logged right over all land of an owner is written on every asset of that owner
  `create index parcel_by_owner on parcel (owner) where owner is not null`,
  `create table estate (
    world_id integer not null,
    id text not null,
    token_id text not null,
    tx_hash text not null,
    owner text not null,
    operator text,
    update_operator text,
    data_version integer not null,
    name text,
    description text,
    ipns text,
    data_text text,
    approvals_for_all text[],
    update_managers text[],
    holder text,
    tenant text,
    rented_until_ms bigint,
    fingerprint text,
    registry_order text,
    last_transferred_at_ms bigint not null,
    district_id uuid,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    primary key (world_id, id)
  ) partition by list (world_id)`,
  `create index estate_by_owner on estate (owner)`,
  `create table publication (
    world_id integer not null,
    key bigint not null,
    tx_hash text not null,
    log_index integer,
    tx_status text not null,
    owner text not null,
    price numeric not null,
    expires_at_ms bigint not null,
    status text not null check (status in ('open', 'cancelled', 'sold')),
    closed_by text check (closed_by in ('event', 'moved', 'replaced')),
    closed_tx_hash text,
    sold_size integer,
    sold_source text check (sold_source in ('order', 'trade')),
    sold_block_number bigint,
    sold_log_index integer,
    buyer text,
    contract_id text not null,
    block_number bigint not null,
    block_time_created_at_ms bigint not null,
    block_time_updated_at_ms bigint,
    asset_id text not null,
    asset_type text not null check (asset_type in ('parcel', 'estate')),
    marketplace_address text not null,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    trade_id text,
    primary key (world_id, key)
  ) partition by list (world_id)`,
  `create index publication_by_asset on publication (asset_id, asset_type, block_time_created_at_ms desc)`,
  `create index publication_by_tx_hash on publication (tx_hash)`,
  // Its id is not unique on the chain: two equal bids of one bidder in one block have the same
  `create table bid (
    world_id integer not null,
    key bigint not null,
    id text not null,
    token_address text not null,
    token_id text not null,
    bidder text not null,
    seller text not null,
    price numeric not null,
    expires_at_ms bigint not null,
    fingerprint text not null,
    status text not null check (status in ('open', 'cancelled', 'sold')),
    closed_by text check (closed_by in ('event', 'void', 'replaced', 'fingerprint')),
    closed_tx_hash text,
    sold_size integer,
    sold_log_index integer,
    asset_id text not null,
    asset_type text not null check (asset_type in ('parcel', 'estate')),
    block_number bigint not null,
    block_time_created_at_ms bigint not null,
    block_time_updated_at_ms bigint not null,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    tx_hash text,
    log_index integer,
    contract_address text,
    primary key (world_id, key)
  ) partition by list (world_id)`,
  // Reading all sales reads no other bids
  `create index bid_by_sale on bid (world_id, key) where status = 'sold'`,
  `create index bid_by_id on bid (id)`,
  `create index bid_by_bidder on bid (bidder)`,
  `create index bid_by_seller on bid (seller)`,
  `create index bid_by_asset on bid (asset_id, asset_type)`,
  `create table mortgage (
    world_id integer not null,
    key bigint not null,
    tx_hash text not null,
    log_index integer,
    tx_status text not null,
    block_number bigint not null,
    status text not null
      check (status in ('pending', 'cancelled', 'ongoing', 'paid', 'defaulted', 'claimed')),
    asset_id text not null,
    asset_type text not null check (asset_type in ('parcel', 'estate')),
    borrower text not null,
    lender text,
    loan_id bigint not null,
    mortgage_id bigint not null,
    amount numeric not null,
    is_due_at_s bigint not null,
    due_in_s bigint,
    expires_at_ms bigint not null,
    block_time_created_at_ms bigint not null,
    block_time_updated_at_ms bigint,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    outstanding_amount numeric not null,
    payable_at_s bigint not null,
    interest_rate bigint not null,
    punitory_interest_rate bigint not null,
    paid numeric not null,
    started_at_ms bigint,
    primary key (world_id, key)
  ) partition by list (world_id)`,
  `create index mortgage_by_borrower on mortgage (borrower)`,
  `create index mortgage_by_asset on mortgage (asset_id, asset_type)`,
  `create table contribution (
    world_id integer not null,
    key bigint not null,
    address text not null,
    district_id uuid not null,
    land_count integer not null,
    timestamp_ms bigint not null,
    primary key (world_id, key)
  ) partition by list (world_id)`,
  `create index contribution_by_address on contribution (address)`,
]

const OF_WORLD = 'world_id integer not null references land_world on delete cascade'

/**
 * What following the chain needs. Bytes are text in hex, as everywhere in the tables of the land. These tables are small, so they
 * are not partitioned: their rows are deleted together with the row of their world.
 */
const CHAIN = [
  // What is logged about owners, and not about one asset; then about trades that were signed off the chain
  `create table land_right (
    ${OF_WORLD},
    kind text not null check (kind in ('approval', 'manager')),
    registry text not null check (registry in ('parcel', 'estate')),
    owner text not null,
    operator text not null,
    primary key (world_id, registry, owner, kind, operator)
  )`,
  `create table trade_signature (
    ${OF_WORLD},
    marketplace text not null,
    signer text not null,
    signature_key text not null,
    is_cancelled boolean not null,
    uses integer not null,
    primary key (world_id, marketplace, signer, signature_key)
  )`,
  `create table trade_index (
    ${OF_WORLD},
    marketplace text not null,
    signer text not null,
    value text not null,
    is_paused boolean not null,
    primary key (world_id, marketplace, signer)
  )`,
  // How far a world follows the chain, and the rows as they were before each block that can still be undone (land/changes)
  `create table chain_position (
    world_id integer primary key references land_world on delete cascade,
    chain_id bigint not null,
    contracts_hash text not null,
    rules_version integer not null,
    block_number bigint not null,
    block_hash text not null,
    block_time_s bigint not null,
    finalized_number bigint not null,
    finalized_hash text not null,
    holder text,
    lease_until_ms bigint not null,
    epoch bigint not null,
    status text,
    completeness text
  )`,
  `create table chain_block (
    ${OF_WORLD},
    number bigint not null,
    hash text not null,
    parent_hash text not null,
    logs_digest text,
    time_s bigint not null,
    primary key (world_id, number)
  )`,
  `create table chain_undo (
    ${OF_WORLD},
    block_number bigint not null,
    table_name text not null,
    key jsonb not null,
    before jsonb,
    primary key (world_id, block_number, table_name, key)
  )`,
  // Offers that were signed off the chain, whole where the signature is right, and their state in the world that is shown. They belong to no world: the states
  // are those in the world of listings_reading
  `create table signed_trade (
    id text primary key,
    reading text not null check (reading in ('listings', 'rentals')),
    trade text not null,
    marketplace text not null,
    signer text not null,
    signature_hash text not null,
    signature_key text not null,
    is_signed boolean not null,
    asset_type text not null check (asset_type in ('parcel', 'estate')),
    asset_id text not null,
    currency text not null check (currency in ('mana', 'usd')),
    price numeric not null,
    fingerprint text not null,
    uses text not null,
    contract_index text not null,
    signer_index text not null,
    asset_index text,
    periods text,
    effective_at_ms bigint not null,
    expires_at_ms bigint not null,
    created_at_ms bigint not null,
    seen_at_ms bigint not null,
    state text,
    state_reason text,
    due_at_ms bigint,
    wallet_call text,
    wallet_asked_at_ms bigint
  )`,
  `create index signed_trade_by_asset on signed_trade (asset_id, asset_type)`,
  `create index signed_trade_by_signer on signed_trade (signer, marketplace)`,
  `create index signed_trade_by_state on signed_trade (state, expires_at_ms)`,
  `create index signed_trade_of_wallet on signed_trade (wallet_asked_at_ms) where wallet_call is not null`,
  // A server may name the same trade by several ids
  `create unique index signed_trade_by_key on signed_trade (marketplace, signature_key) where is_signed`,
  // The process that reads them, and how far it is
  `create table listings_reading (
    name text primary key,
    holder text,
    lease_until_ms bigint not null,
    is_shown boolean not null,
    world_id integer,
    read_at_ms bigint,
    state text not null check (state in ('reading', 'following', 'failing')),
    reason text
  )`,
  // Which processes read the history of the chain, and how far they are, so that every server can say so. A row is valid until
  // its lease ends, by the clock of the database
  `create table chain_history (
    holder text primary key,
    network text not null,
    chain_id bigint not null,
    progress text not null,
    lease_until_ms bigint not null
  )`,
]

const CLAIM_STATES = ['reserved', 'minting', 'minted', 'failed', 'released']
/** The columns of `event_count`: how many codes and claims are in each state, and two totals. */
const COUNTED = [
  ...['free', 'held', 'used', 'used_elsewhere', 'void'],
  ...CLAIM_STATES,
  ...['grants_expired', 'gifts_given'],
]

/**
 * The tables of the attendance interface. They belong to no world: an import of the land leaves them alone. The rules that must
 * never be violated are constraints: one claim per player and event, one claim per code, one code per event and keyed hash, one
 * pending captcha per player, one use of each signed request.
 *
 * Where rows grow with players, `event_id` comes first in each key and is in each reference, so that these tables can be cut by
 * event: `attendance/event-keys.slow.test.ts` has the exceptions.
 */
const ATTENDANCE = [
  `create table attendance_event (
    event_id integer primary key,
    uuid uuid not null unique,
    issuer_record jsonb not null,
    coordinates text not null,
    enabled boolean not null,
    is_cancelled boolean not null default false,
    time_zone text,
    requires_captcha boolean not null,
    requires_presence boolean not null,
    requires_grant boolean not null default false,
    allows_guests boolean not null default true,
    distribution_start_at_ms bigint,
    distribution_end_at_ms bigint,
    expires_at_ms bigint,
    codes_asked_at_ms bigint,
    rehearsal_until_ms bigint,
    created_at_ms bigint not null,
    updated_at_ms bigint not null
  )`,
  `create index attendance_event_rehearsing on attendance_event (rehearsal_until_ms)
    where rehearsal_until_ms is not null`,
  `create table claim_code (
    event_id integer not null references attendance_event,
    id bigint generated always as identity,
    fingerprint bytea not null,
    encrypted bytea not null,
    state text not null check (state in ('free', 'held', 'used', 'used_elsewhere', 'void')),
    created_at_ms bigint not null,
    primary key (event_id, id),
    unique (event_id, fingerprint)
  )`,
  // A claim takes the first free code: without this index it would read all used ones first.
  `create index claim_code_free on claim_code (event_id, id) where state = 'free'`,
  // A claim of an event that was made here has a place and no code: it never gives it back, so it cannot fail
  `create table claim (
    event_id integer not null references attendance_event,
    id bigint generated always as identity,
    address text not null,
    code_id bigint,
    state text not null check (state in ('reserved', 'minting', 'minted', 'failed', 'released')),
    reason text,
    tx_hash text,
    asked_code_id bigint,
    attempts integer not null,
    next_step_at_ms bigint,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    primary key (event_id, id),
    constraint one_claim_per_address unique (event_id, address),
    foreign key (event_id, code_id) references claim_code (event_id, id),
    constraint codes_follow_states check (
      event_id >= 2000000000 or (code_id is not null) = (state in ('reserved', 'minting', 'minted'))
    ),
    constraint places_are_kept check (
      event_id < 2000000000 or (code_id is null and state in ('reserved', 'minted'))
    ),
    constraint steps_follow_states check ((next_step_at_ms is not null) = (state in ('reserved', 'minting')))
  )`,
  // Claims of events that were made here have no code, so they write no entry
  `create unique index one_claim_per_code on claim (event_id, code_id) where code_id is not null`,
  `create index claim_due on claim (next_step_at_ms) where next_step_at_ms is not null`,
  // For lists, and for counts by minute
  `create index claim_by_time on claim (event_id, created_at_ms, id)`,
  // What an address has claimed of events of the other issuer
  `create index claim_minted_by_address on claim (address, created_at_ms)
    where state = 'minted' and event_id < 2000000000`,
  // How many codes and claims of each event are in each state, and totals (attendance/events/event-count-queries.ts). Rows are changed all the time:
  // free space in each page keeps them where they are
  `create table event_count (
    event_id integer not null,
    hour_ms bigint not null,
    stripe integer not null,
    ${COUNTED.map((column) => `${column} bigint not null default 0`).join(',\n    ')},
    primary key (event_id, hour_ms, stripe)
  ) with (fillfactor = 50)`,
  // Events whose codes the issuer answered contradictorily (attendance/events/event-holds.ts)
  `create table event_hold (
    event_id integer primary key references attendance_event,
    reason text not null check (reason in ('unknown_codes', 'other_beneficiary')),
    answers integer not null,
    doubted_code_id bigint,
    held_at_ms bigint,
    probe_at_ms bigint,
    probes integer not null,
    foreign key (event_id, doubted_code_id) references claim_code (event_id, id),
    constraint probes_follow_holds check ((held_at_ms is null) = (probe_at_ms is null))
  )`,
  // Edit codes, encrypted, of events whose codes are loaded as soon as the issuer has approved them
  `create table code_load (
    event_id integer primary key references attendance_event on delete cascade,
    encrypted bytea not null,
    until_ms bigint not null,
    next_try_at_ms bigint not null,
    last_try_at_ms bigint
  )`,
  // Of a player and of no event: a player asks for a captcha before any event is named, and has one at a time. event_id is that of a
  // right answer that was given back
  `create table captcha (
    uuid uuid primary key,
    address text not null unique,
    event_id integer,
    encrypted bytea not null,
    is_preview boolean not null,
    is_guest boolean not null default false,
    tries integer not null,
    unsigned_tries integer[] not null default '{}',
    expires_at_ms bigint not null
  )`,
  `create index captcha_expiry on captcha (expires_at_ms)`,
  // The event is the one that the signed path names, 0 where it names none
  `create table seen_request (
    event_id integer not null,
    hash bytea not null,
    expires_at_ms bigint not null,
    primary key (event_id, hash)
  )`,
  `create index seen_request_expiry on seen_request (expires_at_ms)`,
  // Each guess has a budget, and a paid one names the challenge that was solved for it (attendance/organisers/edit-code-guard.ts)
  `create table edit_code_guess (
    event_id integer not null,
    id bigint generated always as identity,
    at_ms bigint not null,
    is_judged boolean not null,
    budget text not null,
    challenge text,
    primary key (event_id, id),
    unique (event_id, challenge)
  )`,
  `create index edit_code_guess_by_event on edit_code_guess (event_id, at_ms)`,
  `create index edit_code_guess_by_time on edit_code_guess (at_ms)`,
  `create table organiser_pass_generation (
    event_id integer primary key,
    generation integer not null
  )`,
  `create table issuer_token (
    only_row boolean primary key default true check (only_row),
    encrypted bytea,
    expires_at_ms bigint not null,
    asked_at_ms bigint[] not null,
    asking_until_ms bigint not null
  )`,
  `insert into issuer_token (expires_at_ms, asked_at_ms, asking_until_ms) values (0, '{}', 0)`,
  `create table attendance_refusal (
    event_id integer not null references attendance_event,
    hour_ms bigint not null,
    code text not null,
    count bigint not null,
    primary key (event_id, hour_ms, code)
  )`,
  `create table issuer_failure (
    event_id integer not null references attendance_event,
    id bigint generated always as identity,
    at_ms bigint not null,
    call text not null,
    kind text not null,
    status integer,
    primary key (event_id, id)
  )`,
  `create index issuer_failure_by_event on issuer_failure (event_id, at_ms desc)`,
  `create table attendance_blocked (
    event_id integer not null references attendance_event on delete cascade,
    address text not null,
    since_ms bigint not null,
    primary key (event_id, address)
  )`,
  // What each player of a rehearsal did (attendance/rehearsal/rehearsals.ts)
  `create table attendance_rehearsal (
    event_id integer not null references attendance_event on delete cascade,
    address text not null,
    claimed_at_ms bigint,
    refusals bigint not null,
    at_ms bigint not null,
    primary key (event_id, address)
  )`,
  `create index attendance_rehearsal_old on attendance_rehearsal (at_ms)`,
  // What grants of an event are signed with, encrypted. One is current; the one before may stay valid until a time
  `create table grant_secret (
    event_id integer not null references attendance_event on delete cascade,
    id bigint generated always as identity,
    encrypted bytea not null,
    created_at_ms bigint not null,
    valid_until_ms bigint,
    primary key (event_id, id)
  )`,
  `create unique index one_current_grant_secret on grant_secret (event_id) where valid_until_ms is null`,
  `create table attendance_grant (
    event_id integer not null references attendance_event on delete cascade,
    nonce text not null,
    address text not null,
    expires_at_ms bigint not null,
    claim_id bigint,
    primary key (event_id, nonce),
    constraint one_grant_per_claim unique (event_id, claim_id),
    foreign key (event_id, claim_id) references claim (event_id, id)
  )`,
  `create index attendance_grant_by_address on attendance_grant (event_id, address)`,
  `create index attendance_grant_open on attendance_grant (event_id, expires_at_ms) where claim_id is null`,
  `create index attendance_grant_expiring on attendance_grant (expires_at_ms) where claim_id is null`,
]

/** The tables of our own issuer: its keys, the events that were made here, and their tokens. */
const OWN_ISSUER = [
  // Addresses of keys that signed or will sign, with their time. The keys themselves are in files
  `create table token_key (
    address text primary key,
    from_s bigint not null,
    until_s bigint,
    withdrawn_at_s bigint,
    created_at_ms bigint not null
  )`,
  // Numbers of events that the other issuer does not use
  `create sequence made_event_number start 2000000000 minvalue 2000000000 maxvalue 2147483647`,
  `create table made_event (
    event_id integer primary key references attendance_event,
    edit_code_hash bytea not null,
    supply integer not null,
    approval text not null check (approval in ('waiting', 'approved', 'refused')),
    version integer not null default 1,
    reason text,
    decided_at_ms bigint,
    may_give boolean not null default false,
    hides_holders boolean not null,
    image bytea,
    draws_image boolean not null default false,
    made_at_ms bigint not null,
    is_answered boolean not null default true
  )`,
  `create index made_event_unanswered on made_event (made_at_ms) where not is_answered`,
  // How many tokens the event may give out, and how many claims have one or get one: a place has no row of its own
  `create table event_place (
    event_id integer primary key references attendance_event,
    places integer not null,
    taken integer not null check (taken >= 0),
    is_cancelled boolean not null default false
  ) with (fillfactor = 50)`,
  // The change of an event that waits for the operator, or the last one that was refused
  `create table made_event_change (
    event_id integer primary key references made_event on delete cascade,
    name text,
    description text,
    event_url text,
    coordinates text,
    supply integer,
    image bytea,
    draws_image boolean not null default false,
    is_refused boolean not null default false,
    reason text,
    sent_at_ms bigint not null
  )`,
  `create index made_event_change_waiting on made_event_change (event_id) where not is_refused`,
  // Edit codes besides the first one of each event. An ended code keeps its row, so that its organiser sees what was
  `create table event_edit_code (
    event_id integer not null references made_event on delete cascade,
    id uuid not null,
    name text,
    code_hash bytea,
    made_at_ms bigint not null,
    ended_at_ms bigint,
    primary key (event_id, id)
  )`,
  `create unique index event_edit_code_named on event_edit_code (event_id, name) where ended_at_ms is null`,
  // Addresses to which an organiser gives a token, until they have one
  `create table attendance_gift (
    id bigint generated always as identity,
    event_id integer not null references made_event on delete cascade,
    address text not null,
    primary key (event_id, address)
  )`,
  `create index attendance_gift_in_order on attendance_gift (event_id, id)`,
  // The message of a token, and later its signature. One per player and event
  `create table token (
    event_id integer not null references attendance_event,
    id uuid not null,
    address text not null,
    signer text not null,
    time_s bigint not null,
    event_name text not null,
    event_location text not null,
    salt bytea not null,
    number integer not null,
    uid bytea,
    signature bytea,
    revoked_at_s bigint,
    revoked_reason text,
    is_logged boolean not null default false,
    primary key (event_id, id),
    constraint one_token_per_address unique (event_id, address),
    constraint one_token_per_number unique (event_id, number),
    constraint signed_as_a_whole check ((signature is null) = (uid is null)),
    constraint revoked_as_a_whole check ((revoked_at_s is null) = (revoked_reason is null))
  )`,
  // An address of a token names no event
  `create index token_by_id on token (id)`,
  `create index token_by_address on token (address, time_s, id) where signature is not null`,
  `create index token_revoked on token (revoked_at_s) where revoked_at_s is not null`,
  `create index token_unlogged on token (time_s, id) where signature is not null and not is_logged`,
  // Signed tokens in the order in which they were noted, without gaps. It is one order over all events, so it is narrow, and is
  // written in batches in the background, by one process at a time. Rows are never changed or deleted
  `create table token_log (
    position bigint primary key,
    token_id uuid not null unique,
    uid bytea not null,
    signer text not null,
    noted_at_ms bigint not null
  )`,
  // Revoked tokens whose rows an operator has removed: they stay in the public list of revocations
  `create table removed_revocation (
    uid bytea not null,
    signer text not null,
    revoked_at_s bigint not null,
    primary key (uid, signer)
  )`,
  // The Merkle root of the log at the end of each day
  `create table token_log_root (
    day integer primary key,
    leaves bigint not null,
    root bytea not null,
    made_at_ms bigint not null
  )`,
]

/**
 * What a claim inserts, as functions of one event. A statement with an insertion as one of its parts would be cut into pieces on a
 * database of several nodes, and ask all of them; with functions the node that has the event executes it as a whole.
 */
const FUNCTIONS = [
  // Uses up signed requests. Returns the hashes, in hex, of those that were not used before
  `create function use_requests(of_event integer, hashes text[], expiries bigint[]) returns setof text rows 10 language plpgsql as $$
   begin
     return query insert into seen_request (event_id, hash, expires_at_ms)
     select of_event, decode(asked.hash, 'hex'), asked.expires_at_ms
     from unnest(hashes, expiries) as asked (hash, expires_at_ms) where asked.hash is not null order by asked.hash
     on conflict do nothing returning encode(seen_request.hash, 'hex');
   end $$`,
  // Inserts claims. Returns those of players who had none
  `create function add_claims(
     of_event integer, addresses text[], code_ids bigint[], states text[], next_steps bigint[], times bigint[]
   ) returns table (id bigint, address text, code_id bigint, state text, created_at_ms bigint) rows 10 language plpgsql as $$
   #variable_conflict use_column
   begin
     return query insert into claim
       (event_id, address, code_id, state, attempts, next_step_at_ms, created_at_ms, updated_at_ms)
     select of_event, new.address, new.code_id, new.state, 0, new.next_step_at_ms, new.now_ms, new.now_ms
     from unnest(addresses, code_ids, states, next_steps, times) as new (address, code_id, state, next_step_at_ms, now_ms)
     order by new.address
     on conflict (event_id, address) do nothing
     returning claim.id, claim.address, claim.code_id, claim.state, claim.created_at_ms;
   end $$`,
  `create type new_token as (
     id uuid, address text, signer text, time_s bigint, event_name text, event_location text, salt bytea, number bigint, uid bytea,
     signature bytea
   )`,
  // Inserts tokens. Returns how many
  `create function add_tokens(of_event integer, tokens new_token[]) returns bigint language plpgsql as $$
   declare
     added bigint;
   begin
     insert into token (event_id, id, address, signer, time_s, event_name, event_location, salt, number, uid, signature)
     select of_event, new.* from unnest(tokens) as new;
     get diagnostics added = row_count;
     return added;
   end $$`,
  // Changes counts of an event: its totals, and where an hour is given the claims that were made in it
  `create function add_counts(of_event integer, of_hour bigint, ${COUNTED.map((column) => `${column} bigint default 0`).join(', ')})
   returns void language plpgsql as $$
   #variable_conflict use_variable
   begin
     insert into event_count (event_id, hour_ms, stripe, ${COUNTED.join(', ')})
     select of_event, -1, pg_backend_pid() % 16, ${COUNTED.join(', ')}
     union all
     select of_event, of_hour, pg_backend_pid() % 16, ${COUNTED.map((column) => (CLAIM_STATES.includes(column) ? column : '0')).join(', ')}
     where of_hour is not null
     on conflict on constraint event_count_pkey do update set
       ${COUNTED.map((column) => `${column} = event_count.${column} + excluded.${column}`).join(',\n       ')};
   end $$`,
]
