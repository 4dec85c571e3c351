import { type Kysely, sql } from 'kysely'

/**
 * Grants: a program of the organiser says who may have a token (attendance/grants/).
 *
 * - `attendance_event.requires_grant`: whether a claim needs a grant. False from the version before, which ignores it:
 *   switch it on when all processes are up to date.
 * - `attendance_event.grants_expired`: how many expired grants were deleted, for the report.
 * - `grant_secret`: what grants of an event are signed with, encrypted. One is current; the one before may stay valid
 *   until a time.
 * - `attendance_grant`: one row for each grant. `claim_id` is the claim that has used it.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  // What the reference to claim below needs: before attendance_event is locked, as claims that are being written use both.
  'lock table claim in share row exclusive mode',
  `alter table attendance_event
    add column requires_grant boolean not null default false,
    add column grants_expired integer not null default 0`,
  `create table grant_secret (
    id bigint generated always as identity primary key,
    event_id integer not null references attendance_event on delete cascade,
    sealed bytea not null,
    created_at_ms bigint not null,
    valid_until_ms bigint
  )`,
  `create unique index one_current_grant_secret on grant_secret (event_id) where valid_until_ms is null`,
  `create index grant_secret_by_event on grant_secret (event_id)`,
  `create table attendance_grant (
    event_id integer not null references attendance_event on delete cascade,
    nonce text not null,
    address text not null,
    expires_at_ms bigint not null,
    claim_id bigint constraint one_grant_per_claim unique references claim on delete set null,
    primary key (event_id, nonce)
  )`,
  `create index attendance_grant_by_address on attendance_grant (event_id, address)`,
  `create index attendance_grant_open on attendance_grant (event_id, expires_at_ms) where claim_id is null`,
  `create index attendance_grant_expiring on attendance_grant (expires_at_ms) where claim_id is null`,
  `set local lock_timeout = default`,
]
