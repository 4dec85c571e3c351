import { type Kysely, sql } from 'kysely'

/**
 * The tables of the attendance interface. They belong to no world: an import of the land leaves them alone.
 * The rules that must never be violated are constraints: one claim per player and event, one claim
 * per code, one code per keyed hash, one pending captcha per player, one use of each signed request.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table attendance_event (
    event_id integer primary key,
    uuid uuid not null unique,
    issuer_record jsonb not null,
    coordinates text not null,
    enabled boolean not null,
    requires_captcha boolean not null,
    requires_presence boolean not null,
    distribution_start_at_ms bigint,
    distribution_end_at_ms bigint,
    expires_at_ms bigint,
    codes_asked_at_ms bigint,
    created_at_ms bigint not null,
    updated_at_ms bigint not null
  )`,
  `create table claim_code (
    id bigint generated always as identity primary key,
    event_id integer not null references attendance_event,
    fingerprint bytea not null unique,
    sealed bytea not null,
    state text not null check (state in ('free', 'held', 'used', 'used_elsewhere', 'void')),
    created_at_ms bigint not null
  )`,
  // A claim takes the first free code: without this index it would read all used ones first.
  `create index claim_code_free on claim_code (event_id, id) where state = 'free'`,
  `create index claim_code_by_state on claim_code (event_id, state)`,
  `create table claim (
    id bigint generated always as identity primary key,
    event_id integer not null references attendance_event,
    address text not null,
    code_id bigint unique references claim_code,
    state text not null check (state in ('reserved', 'minting', 'minted', 'failed', 'released')),
    reason text,
    tx_hash text,
    attempts integer not null,
    next_step_at_ms bigint,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    constraint one_claim_per_address unique (event_id, address),
    constraint codes_follow_states check ((code_id is not null) = (state in ('reserved', 'minting', 'minted'))),
    constraint steps_follow_states check ((next_step_at_ms is not null) = (state in ('reserved', 'minting')))
  )`,
  `create index claim_due on claim (next_step_at_ms) where next_step_at_ms is not null`,
  `create table captcha (
    uuid uuid primary key,
    address text not null unique,
    event_id integer,
    sealed bytea not null,
    is_preview boolean not null,
    tries integer not null,
    expires_at_ms bigint not null
  )`,
  `create index captcha_expiry on captcha (expires_at_ms)`,
  `create table seen_request (
    hash bytea primary key,
    expires_at_ms bigint not null
  )`,
  `create index seen_request_expiry on seen_request (expires_at_ms)`,
  `create table edit_code_guess (
    id bigint generated always as identity primary key,
    event_id integer not null,
    at_ms bigint not null,
    is_judged boolean not null
  )`,
  `create index edit_code_guess_by_event on edit_code_guess (event_id, at_ms)`,
  `create index edit_code_guess_by_time on edit_code_guess (at_ms)`,
  `create table issuer_token (
    only_row boolean primary key default true check (only_row),
    sealed bytea,
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
    id bigint generated always as identity primary key,
    event_id integer not null references attendance_event,
    at_ms bigint not null,
    call text not null,
    kind text not null,
    status integer
  )`,
  `create index issuer_failure_by_event on issuer_failure (event_id, at_ms desc)`,
]
