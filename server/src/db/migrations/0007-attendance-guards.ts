import { type Kysely, sql } from 'kysely'

/**
 * What the attendance interface needs against strangers and against contradictory answers of the issuer:
 *
 * - `captcha.unsigned_tries`: a keyed hash of the network address of each unsigned answer. The version before this one
 *   counts all answers in `tries`, which stays the count of signed ones.
 * - `claim.asked_code_id`: the code for which the issuer was asked for a token. Null from the version before.
 * - `event_hold`: events whose codes the issuer answered contradictorily. The version before does not read it.
 * - `attendance_seal`: whether encrypted values are bound to their row. False beside the version before, which cannot
 *   decrypt bound values; `landpass reseal` sets it. A database without events and access token is new, so no such process uses it.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Requests queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  `alter table captcha add column unsigned_tries integer[] not null default '{}'`,
  `alter table claim add column asked_code_id bigint`,
  `create table event_hold (
    event_id integer primary key references attendance_event,
    reason text not null check (reason in ('unknown_codes', 'other_beneficiary')),
    answers integer not null,
    doubted_code_id bigint references claim_code,
    held_at_ms bigint,
    probe_at_ms bigint,
    probes integer not null,
    constraint probes_follow_holds check ((held_at_ms is null) = (probe_at_ms is null))
  )`,
  `set local lock_timeout = default`,
  `create table attendance_seal (
    only_row boolean primary key default true check (only_row),
    is_bound boolean not null
  )`,
  `insert into attendance_seal (is_bound) select not exists (select from attendance_event)
    and not exists (select from issuer_token where sealed is not null)`,
]
