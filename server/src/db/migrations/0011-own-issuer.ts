import { type Kysely, sql } from 'kysely'

/**
 * The tables of our own issuer: its keys, the events that were made here, and their tokens. Server processes of the version
 * before do not read them; such a process cannot finish claims of these events, so make the first one when all processes
 * are up to date.
 *
 * - `token_key`: addresses of keys that signed or will sign, with their time. The keys themselves are in files.
 * - `made_event_number`: numbers that the other issuer does not use.
 * - `token`: the message, which is inserted with the claim, and later its signature. One per player and event.
 * - `token_log`: signed tokens in the order in which they were noted, without gaps. Rows are never changed or deleted.
 * - `token_log_root`: the Merkle root of the log at the end of each day.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table token_key (
    address text primary key,
    from_s bigint not null,
    until_s bigint,
    withdrawn_at_s bigint,
    created_at_ms bigint not null
  )`,
  `create sequence made_event_number start 2000000000 minvalue 2000000000 maxvalue 2147483647`,
  `create table made_event (
    event_id integer primary key references attendance_event,
    edit_code_hash bytea not null,
    supply integer not null,
    approval text not null check (approval in ('waiting', 'approved', 'refused')),
    hides_holders boolean not null,
    image bytea,
    made_at_ms bigint not null
  )`,
  `create table token (
    id uuid primary key,
    event_id integer not null references attendance_event,
    address text not null,
    signer text not null,
    time_s bigint not null,
    event_name text not null,
    event_location text not null,
    salt bytea not null,
    number integer,
    uid bytea,
    signature bytea,
    revoked_at_s bigint,
    revoked_reason text,
    is_logged boolean not null default false,
    constraint one_token_per_address unique (event_id, address),
    constraint one_token_per_number unique (event_id, number),
    constraint signed_as_a_whole check ((signature is null) = (uid is null) and (signature is null) = (number is null)),
    constraint revoked_as_a_whole check ((revoked_at_s is null) = (revoked_reason is null))
  )`,
  `create index token_by_address on token (address, time_s, id) where signature is not null`,
  `create index token_revoked on token (revoked_at_s) where revoked_at_s is not null`,
  `create index token_unlogged on token (time_s, id) where signature is not null and not is_logged`,
  `create table token_log (
    position bigint primary key,
    token_id uuid not null unique references token,
    uid bytea not null,
    signer text not null,
    noted_at_ms bigint not null
  )`,
  `create table token_log_root (
    day integer primary key,
    leaves bigint not null,
    root bytea not null,
    made_at_ms bigint not null
  )`,
]
