import { type RawBuilder, sql } from 'kysely'
import { MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { withRetries } from '../../db/retries.ts'
import { inTransaction } from '../../db/transaction.ts'

/** Rows are deleted so much later, because a process with a slow clock may still use them. */
const CLOCK_DIFFERENCE_MS = MINUTE_MS
/** How many statements one cleanup runs: others wait for it. */
export const MAX_BATCHES = 20

export interface StoredSecret {
  readonly id: number
  readonly sealed: Buffer
}

/**
 * The event of a uuid, and its valid secrets; undefined for an unknown event, one that gives out no tokens any more, and
 * one that the operator has not approved.
 */
export async function findSecrets(
  db: Db,
  uuid: string,
  nowMs: number,
): Promise<{ readonly eventId: number; readonly secrets: readonly StoredSecret[] } | undefined> {
  const { rows } = await sql<{ event_id: number; id: number | null; sealed: Buffer }>`
    select event.event_id, grant_secret.id, grant_secret.sealed
    from attendance_event as event left join grant_secret
      on grant_secret.event_id = event.event_id and ${isValidAt(nowMs)}
    where event.uuid = ${uuid}
      and coalesce(least(event.expires_at_ms, event.distribution_end_at_ms) > ${nowMs}, true)
      and not exists (
        select from made_event where made_event.event_id = event.event_id and approval <> 'approved'
      )`.execute(db)
  const [first] = rows
  if (!first) return undefined
  return {
    eventId: first.event_id,
    secrets: rows.flatMap(({ id, sealed }) => (id === null ? [] : [{ id, sealed }])),
  }
}

function isValidAt(nowMs: number): RawBuilder<boolean> {
  return sql`(grant_secret.valid_until_ms is null or grant_secret.valid_until_ms > ${nowMs})`
}

export interface NewSecret {
  readonly eventId: number
  readonly sealed: Buffer
  readonly nowMs: number
  /** Until when the secret before stays valid; `nowMs`: it ends at once. */
  readonly previousUntilMs: number
}

/**
 * Makes a secret the current one. At most one other stays: the one before. A secret that ends at once is deleted, so it
 * ends for processes whose clock is slow too. Waits for grants that are being stored with a secret that ends.
 *
 * @returns whether there was one before
 */
export function replaceSecret(
  db: Db,
  { eventId, sealed, nowMs, previousUntilMs }: NewSecret,
): Promise<{ readonly hadOne: boolean }> {
  return inTransaction(db, async (tx) => {
    // Two calls at the same time are done one after the other. Claims, which refer to the event, do not wait
    await sql`select from attendance_event where event_id = ${eventId} for no key update`.execute(tx)
    const before = await tx
      .selectFrom('grant_secret')
      .select('id')
      .where('event_id', '=', eventId)
      .where('valid_until_ms', 'is', null)
      .executeTakeFirst()
    const keptId = previousUntilMs > nowMs ? before?.id : undefined
    const ended = tx.deleteFrom('grant_secret').where('event_id', '=', eventId)
    await (keptId === undefined ? ended : ended.where('id', '<>', keptId)).execute()
    if (keptId !== undefined) {
      const kept = tx.updateTable('grant_secret').set({ valid_until_ms: previousUntilMs })
      await kept.where('id', '=', keptId).execute()
    }
    await tx
      .insertInto('grant_secret')
      .values({ event_id: eventId, sealed, created_at_ms: nowMs, valid_until_ms: null })
      .execute()
    return { hadOne: before !== undefined }
  })
}

/**
 * Deletes all open grants of an event, and counts them as expired. There may be a million: each statement deletes
 * `batchRows` of them at most, in the order of their times. The next one goes on where it ended, because to skip the
 * deleted rows took 50 times as long.
 *
 * @returns how many
 */
export async function withdrawOpen(
  db: Db,
  eventId: number,
  { nowMs, batchRows }: DeleteOptions,
): Promise<number> {
  let fromMs = nowMs + 1
  for (let withdrawn = 0; ; ) {
    const { deleted, lastMs } = await withRetries(() => withdrawBatch(db, eventId, { fromMs, batchRows }))
    withdrawn += deleted
    if (deleted < batchRows) return withdrawn
    fromMs = lastMs ?? fromMs
  }
}

async function withdrawBatch(
  db: Db,
  eventId: number,
  { fromMs, batchRows }: { readonly fromMs: number; readonly batchRows: number },
): Promise<{ readonly deleted: number; readonly lastMs: number | null }> {
  const { rows } = await sql<{ deleted: number; lastMs: number | null }>`
    with open as (
      select ctid from attendance_grant
      where event_id = ${eventId} and claim_id is null and expires_at_ms >= ${fromMs}
      order by expires_at_ms limit ${batchRows} for update
    ), withdrawn as (
      delete from attendance_grant where ctid = any(array(select ctid from open)) returning expires_at_ms
    )
    update attendance_event set grants_expired = grants_expired + (select count(*) from withdrawn)
    where event_id = ${eventId}
    returning (select count(*) from withdrawn)::integer as deleted,
      (select max(expires_at_ms) from withdrawn) as "lastMs"`.execute(db)
  return rows[0] ?? { deleted: 0, lastMs: null }
}

export interface Grant {
  readonly eventId: number
  /** In lower case. */
  readonly address: string
  readonly nonce: string
  readonly expiresAtMs: number
}

export async function findGrant(
  db: Db,
  { eventId, nonce }: Pick<Grant, 'eventId' | 'nonce'>,
): Promise<(Grant & { readonly isUsed: boolean }) | undefined> {
  const row = await db
    .selectFrom('attendance_grant')
    .select(['address', 'expires_at_ms', 'claim_id'])
    .where('event_id', '=', eventId)
    .where('nonce', '=', nonce)
    .executeTakeFirst()
  if (!row) return undefined
  const { address, expires_at_ms: expiresAtMs, claim_id: claimId } = row
  return { eventId, nonce, address, expiresAtMs, isUsed: claimId !== null }
}

/** A grant, and the secret with which its signature was found right. */
export interface SignedWith {
  readonly grant: Grant
  readonly secretId: number
  readonly nowMs: number
}

/** What became of a grant: `nonce_taken` and `secret_ended` changed nothing. */
export type Stored = 'stored' | 'nonce_taken' | 'secret_ended'

/**
 * Stores a grant, if its secret is still valid. The row of the secret is locked until the grant is committed: a new secret
 * waits for it, so it finds every grant that it has to withdraw.
 */
export async function insertGrant(db: Db, { grant, secretId, nowMs }: SignedWith): Promise<Stored> {
  const { eventId, address, nonce, expiresAtMs } = grant
  const { rows } = await sql<StoredRow>`
    with secret as (${lockedSecret(secretId, nowMs)}), stored as (
      insert into attendance_grant (event_id, nonce, address, expires_at_ms)
      select ${eventId}::integer, ${nonce}, ${address}, ${expiresAtMs}::bigint from secret
      on conflict (event_id, nonce) do nothing
      returning nonce
    )
    select exists (select from secret) as is_valid, exists (select from stored) as is_stored`.execute(db)
  return storedOf(rows[0]!)
}

/**
 * Stores a grant in place of the one with its nonce, which has expired unused, and counts that one at the event.
 * `nonce_taken`: the event has no such grant any more.
 */
export async function replaceExpiredGrant(db: Db, { grant, secretId, nowMs }: SignedWith): Promise<Stored> {
  const { eventId, address, nonce, expiresAtMs } = grant
  const { rows } = await sql<StoredRow>`
    with secret as (${lockedSecret(secretId, nowMs)}), replaced as (
      update attendance_grant set address = ${address}, expires_at_ms = ${expiresAtMs}
      from secret
      where event_id = ${eventId} and nonce = ${nonce} and claim_id is null and expires_at_ms <= ${nowMs}
      returning event_id
    ), counted as (
      update attendance_event set grants_expired = grants_expired + 1
      from replaced where attendance_event.event_id = replaced.event_id
    )
    select exists (select from secret) as is_valid, exists (select from replaced) as is_stored`.execute(db)
  return storedOf(rows[0]!)
}

function lockedSecret(secretId: number, nowMs: number): RawBuilder<unknown> {
  return sql`select id from grant_secret where id = ${secretId} and ${isValidAt(nowMs)} for share`
}

interface StoredRow {
  readonly is_valid: boolean
  readonly is_stored: boolean
}

function storedOf({ is_valid, is_stored }: StoredRow): Stored {
  if (!is_valid) return 'secret_ended'
  return is_stored ? 'stored' : 'nonce_taken'
}

/** Whether a claim of the player could use a grant: an open one, or the one that the failed claim keeps. */
export async function hasGrant(
  db: Db,
  { eventId, address, nowMs }: { readonly eventId: number; readonly address: string; readonly nowMs: number },
): Promise<boolean> {
  const { rows } = await sql`
    select from attendance_grant as given left join claim on claim.id = given.claim_id
    where given.event_id = ${eventId} and given.address = ${address}
      and (claim.state = 'failed' or (given.claim_id is null and given.expires_at_ms > ${nowMs}))
    limit 1`.execute(db)
  return rows.length > 0
}

export async function countOpenGrants(db: Db, eventId: number, nowMs: number): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::integer as open from attendance_grant
    where event_id = ${eventId} and claim_id is null and expires_at_ms > ${nowMs}`.execute(db)
  return rows[0]!.open
}

/** Of all events. Reads an index entry for each of them. */
export async function countAllOpenGrants(db: Db, nowMs: number): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::integer as open from attendance_grant
    where claim_id is null and expires_at_ms > ${nowMs}`.execute(db)
  return rows[0]!.open
}

export interface GrantCounts {
  /** Neither used nor expired. */
  readonly open: number
  /** A claim has it. */
  readonly used: number
  /** Expired unused, also those that were deleted since. */
  readonly expired: number
}

export async function countGrants(db: Db, eventId: number, nowMs: number): Promise<GrantCounts> {
  const { rows } = await sql<GrantCounts>`
    select count(*) filter (where claim_id is null and expires_at_ms > ${nowMs})::integer as open,
      count(claim_id)::integer as used,
      (count(*) filter (where claim_id is null and expires_at_ms <= ${nowMs}) + coalesce(
        (select grants_expired from attendance_event where event_id = ${eventId}), 0))::integer as expired
    from attendance_grant where event_id = ${eventId}`.execute(db)
  return rows[0]!
}

export interface DeleteOptions {
  readonly nowMs: number
  /** How many rows one statement may delete: the embedded engine has one connection, which other work needs. */
  readonly batchRows: number
}

/**
 * Deletes grants that expired unused, and counts them at their event. A statement deletes those of one event. What is
 * left after {@link MAX_BATCHES} is for the next call.
 */
export async function deleteExpiredGrants(db: Db, { nowMs, batchRows }: DeleteOptions): Promise<void> {
  const beforeMs = nowMs - CLOCK_DIFFERENCE_MS
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    // An array of ctids: a join with `old` would read the whole table for each batch
    const { rows } = await sql<{ deleted: number }>`
      with old as (
        select ctid from attendance_grant
        where claim_id is null and expires_at_ms < ${beforeMs} and event_id = (
          select event_id from attendance_grant where claim_id is null and expires_at_ms < ${beforeMs}
          order by expires_at_ms limit 1
        )
        limit ${batchRows} for update skip locked
      ), deleted as (
        delete from attendance_grant where ctid = any(array(select ctid from old)) returning event_id
      )
      update attendance_event set grants_expired = grants_expired + counted.deleted
      from (select event_id, count(*)::integer as deleted from deleted group by event_id) as counted
      where attendance_event.event_id = counted.event_id
      returning counted.deleted`.execute(db)
    if (rows.length === 0) return
  }
}

/** Deletes secrets whose time is over. */
export async function deleteEndedSecrets(db: Db, nowMs: number): Promise<void> {
  await db
    .deleteFrom('grant_secret')
    .where('valid_until_ms', '<', nowMs - CLOCK_DIFFERENCE_MS)
    .execute()
}
