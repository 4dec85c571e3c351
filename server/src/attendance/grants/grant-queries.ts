import { type RawBuilder, sql } from 'kysely'
import { readAllEvents } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'
import { countMoves, totalOf } from '../events/event-count-queries.ts'

export interface StoredSecret {
  readonly id: number
  readonly encrypted: Buffer
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
  const { rows } = await sql<{ event_id: number }>`
    select event_id from attendance_event as event
    where event.uuid = ${uuid}
      and coalesce(least(event.expires_at_ms, event.distribution_end_at_ms) > ${nowMs}, true)
      and not exists (
        select from made_event where made_event.event_id = event.event_id and approval <> 'approved'
      )`.execute(db)
  const eventId = rows[0]?.event_id
  if (eventId === undefined) return undefined
  // A statement of its own: it names the event, and so asks one node of a database of several
  const secrets = await sql<StoredSecret>`
    select id, encrypted from grant_secret where event_id = ${eventId} and ${isValidAt(nowMs)}`.execute(db)
  return { eventId, secrets: secrets.rows }
}

function isValidAt(nowMs: number): RawBuilder<boolean> {
  return sql`(grant_secret.valid_until_ms is null or grant_secret.valid_until_ms > ${nowMs})`
}

export interface NewSecret {
  readonly eventId: number
  readonly encrypted: Buffer
  readonly nowMs: number
  /** Until when the secret before stays valid; `nowMs`: it ends at once. */
  readonly previousUntilMs: number
}

/** What {@link replaceSecret} found. */
export interface Replaced {
  /** Whether there was a current secret before. */
  readonly hadOne: boolean
  /** Grants stored before belong to secrets before: for {@link withdrawOpen}. */
  readonly storedBefore: TransactionMark
}

/**
 * A place in the order of the transactions of the event's node. Transactions that ended before it was made have lower ids, those
 * that began after it do not. It needs no clock, and no column.
 */
export type TransactionMark = number

/**
 * Makes a secret the current one. At most one other stays: the one before. A secret that ends at once is deleted, so it
 * ends for processes whose clock is slow too. Waits for grants that are being stored with any secret of the event.
 *
 * Locks are taken in the same order as by grants: secrets, grants, event. So it never waits while it has the event.
 */
export async function replaceSecret(db: Db, secret: NewSecret): Promise<Replaced> {
  for (;;) {
    const replaced = await inTransaction(db, (tx) => tryToReplace(tx, secret))
    if (replaced) return replaced
  }
}

/** @returns undefined, with nothing changed, where another call has made a secret meanwhile: it is not locked yet */
async function tryToReplace(
  tx: Tx,
  { eventId, encrypted, nowMs, previousUntilMs }: NewSecret,
): Promise<Replaced | undefined> {
  const secrets = tx
    .selectFrom('grant_secret')
    .select(['id', 'valid_until_ms'])
    .where('event_id', '=', eventId)
    .orderBy('id')
  const locked = new Set((await secrets.forUpdate().execute()).map(({ id }) => id))
  // Two calls for an event without a secret are done one after the other. Claims, which refer to the event, do not wait
  await sql`select from attendance_event where event_id = ${eventId} for no key update`.execute(tx)
  const found = await secrets.execute()
  if (found.some(({ id }) => !locked.has(id))) return undefined
  // After the locks: the grants that they waited for are before it. Without a secret there was none to wait for
  const afterLocks = found.length > 0 ? await markTransactions(tx, eventId) : undefined
  const before = found.find(({ valid_until_ms }) => valid_until_ms === null)
  const keptId = previousUntilMs > nowMs ? before?.id : undefined
  const ended = tx.deleteFrom('grant_secret').where('event_id', '=', eventId)
  await (keptId === undefined ? ended : ended.where('id', '<>', keptId)).execute()
  if (keptId !== undefined) {
    const kept = tx.updateTable('grant_secret').set({ valid_until_ms: previousUntilMs })
    await kept.where('event_id', '=', eventId).where('id', '=', keptId).execute()
  }
  await tx
    .insertInto('grant_secret')
    .values({ event_id: eventId, encrypted, created_at_ms: nowMs, valid_until_ms: null })
    .execute()
  const storedBefore = afterLocks ?? (await markTransactions(tx, eventId))
  return { hadOne: before !== undefined, storedBefore }
}

/** Read beside a secret of the event: its grants lie on the same node of a database of several, and nodes count for themselves. */
async function markTransactions(tx: Tx, eventId: number): Promise<TransactionMark> {
  const { rows } = await sql<{ mark: number }>`
    select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as mark
    from grant_secret where event_id = ${eventId} limit 1`.execute(tx)
  return rows[0]!.mark
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
    with secret as (${lockedSecret(eventId, secretId, nowMs)}), stored as (
      insert into attendance_grant (event_id, nonce, address, expires_at_ms)
      select ${eventId}::integer, ${nonce}, ${address}, ${expiresAtMs}::bigint from secret
      on conflict (event_id, nonce) do nothing
      returning nonce
    )
    select exists (select from secret) as is_valid, exists (select from stored) as is_stored`.execute(db)
  return storedOf(rows[0]!)
}

/**
 * Stores a grant in place of the one with its nonce, which has expired unused, and counts that one.
 * `nonce_taken`: the event has no such grant any more.
 */
export async function replaceExpiredGrant(db: Db, { grant, secretId, nowMs }: SignedWith): Promise<Stored> {
  const { eventId, address, nonce, expiresAtMs } = grant
  const { rows } = await sql<StoredRow>`
    with secret as (${lockedSecret(eventId, secretId, nowMs)}), replaced as (
      update attendance_grant set address = ${address}, expires_at_ms = ${expiresAtMs}
      from secret
      where event_id = ${eventId} and nonce = ${nonce} and claim_id is null and expires_at_ms <= ${nowMs}
      returning event_id
    ), ${countMoves({ rows: 'replaced', of: 'totals', to: 'grants_expired' })}
    select exists (select from secret) as is_valid, exists (select from replaced) as is_stored from counted`.execute(
    db,
  )
  return storedOf(rows[0]!)
}

function lockedSecret(eventId: number, secretId: number, nowMs: number): RawBuilder<unknown> {
  return sql`select id from grant_secret where event_id = ${eventId} and id = ${secretId} and ${isValidAt(nowMs)} for share`
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
    select from attendance_grant as given left join claim on claim.event_id = given.event_id and claim.id = given.claim_id
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

/** Open grants of all events. Reads an index entry for each of them, and stops at `max`. */
export async function countAllOpenGrants(
  db: Db,
  { nowMs, max }: { readonly nowMs: number; readonly max: number },
): Promise<number> {
  const counts = await readAllEvents(
    db,
    'attendance_grant',
    (grants) => sql<{ open: number }>`
      select count(*)::integer as open from (
        select event_id from ${grants} where claim_id is null and expires_at_ms > ${nowMs} limit ${max}
      ) as bounded`,
  )
  return counts.reduce((sum, { open }) => sum + open, 0)
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
      (count(*) filter (where claim_id is null and expires_at_ms <= ${nowMs})
        + ${totalOf('grants_expired', eventId)})::integer as expired
    from attendance_grant where event_id = ${eventId}`.execute(db)
  return rows[0]!
}
