import { type Kysely, sql } from 'kysely'

/**
 * Tokens for a list of addresses, and players who are guests.
 *
 * - `attendance_gift`: addresses to which an organiser gives a token, until they have one.
 * - `made_event.may_give`: whether the operator allows that where the operator approves events. `given`: how many tokens
 *   were given so.
 * - `attendance_event.allows_guests`: whether guests may claim; true for events of the version before, which did not ask.
 * - `captcha.is_guest`: whether a guest asked for it.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  'alter table attendance_event add column allows_guests boolean not null default true',
  'alter table captcha add column is_guest boolean not null default false',
  `alter table made_event add column may_give boolean not null default false,
    add column given integer not null default 0`,
  `create table attendance_gift (
    id bigint generated always as identity,
    event_id integer not null references made_event on delete cascade,
    address text not null,
    primary key (event_id, address)
  )`,
  'create index attendance_gift_in_order on attendance_gift (event_id, id)',
  `set local lock_timeout = default`,
]
