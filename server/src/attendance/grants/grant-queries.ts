import { sql } from 'kysely'
import { MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'

/** Rows are deleted so much later, because a process with a slow clock may still use them. */
const CLOCK_DIFFERENCE_MS = MINUTE_MS

/** The event of a uuid, and its valid secrets; undefined for an unknown event. */
export async function findSecrets(
  db: Db,
  uuid: string,
  nowMs: number,
): Promise<{ readonly eventId: number; readonly sealed: readonly Buffer[] } | undefined> {
  const { rows } = await sql<{ event_id: number; sealed: Buffer | null }>`
    select event.event_id, grant_secret.sealed from attendance_event as event left join grant_secret
      on grant_secret.event_id = event.event_id
      and (valid_until_ms is null or valid_until_ms > ${nowMs})
    where event.uuid = ${uuid}`.execute(db)
  const [first] = rows
  if (!first) return undefined
  return { eventId: first.event_id, sealed: rows.flatMap(({ sealed }) => (sealed ? [sealed] : [])) }
}

export interface NewSecret {
  readonly eventId: number
  readonly sealed: Buffer
  readonly nowMs: number
  /** Until when the secret before stays valid; `nowMs`: it ends at once. */
  readonly previousUntilMs: number
  readonly withdrawsOpen: boolean
}

/**
 * Makes a secret the current one. At most one other stays: the one before.
 *
 * @returns whether there was one before, and how many unused grants were withdrawn
 */
export function replaceSecret(
  db: Db,
  secret: NewSecret,
): Promise<{ readonly hadOne: boolean; readonly withdrawn: number }> {
  const { eventId, sealed, nowMs, previousUntilMs, withdrawsOpen } = secret
  return inTransaction(db, async (tx) => {
    // Two calls at the same time are done one after the other
    await sql`select from attendance_event where event_id = ${eventId} for update`.execute(tx)
    await tx
      .deleteFrom('grant_secret')
      .where('event_id', '=', eventId)
      .where('valid_until_ms', 'is not', null)
      .execute()
    const previous = tx.updateTable('grant_secret').set({ valid_until_ms: previousUntilMs })
    const { numUpdatedRows } = await previous.where('event_id', '=', eventId).executeTakeFirst()
    await tx
      .insertInto('grant_secret')
      .values({ event_id: eventId, sealed, created_at_ms: nowMs, valid_until_ms: null })
      .execute()
    return { hadOne: numUpdatedRows > 0n, withdrawn: withdrawsOpen ? await withdrawOpen(tx, eventId) : 0 }
  })
}

/** Deletes all grants of an event that no claim has, and counts them as expired. @returns how many */
async function withdrawOpen(tx: Tx, eventId: number): Promise<number> {
  const { rows } = await sql<{ withdrawn: number }>`
    with withdrawn as (
      delete from attendance_grant where event_id = ${eventId} and claim_id is null returning event_id
    )
    update attendance_event set grants_expired = grants_expired + (select count(*) from withdrawn)
    where event_id = ${eventId}
    returning (select count(*) from withdrawn)::integer as withdrawn`.execute(tx)
  return rows[0]!.withdrawn
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
): Promise<Grant | undefined> {
  const row = await db
    .selectFrom('attendance_grant')
    .select(['address', 'expires_at_ms'])
    .where('event_id', '=', eventId)
    .where('nonce', '=', nonce)
    .executeTakeFirst()
  return row && { eventId, nonce, address: row.address, expiresAtMs: row.expires_at_ms }
}

/** @returns false where the event has a grant with this nonce */
export async function insertGrant(db: Db, grant: Grant): Promise<boolean> {
  const { eventId, address, nonce, expiresAtMs } = grant
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('attendance_grant')
    .values({ event_id: eventId, address, nonce, expires_at_ms: expiresAtMs, claim_id: null })
    .onConflict((conflict) => conflict.columns(['event_id', 'nonce']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
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

/** Deletes grants that expired unused, and counts them at their event. A statement deletes those of one event. */
export async function deleteExpiredGrants(db: Db, { nowMs, batchRows }: DeleteOptions): Promise<void> {
  const beforeMs = nowMs - CLOCK_DIFFERENCE_MS
  for (let isDone = false; !isDone; ) {
    const { rows } = await sql<{ deleted: number }>`
      with old as (
        select event_id, nonce from attendance_grant
        where claim_id is null and expires_at_ms < ${beforeMs} and event_id = (
          select event_id from attendance_grant where claim_id is null and expires_at_ms < ${beforeMs}
          order by expires_at_ms limit 1
        )
        limit ${batchRows} for update skip locked
      ), deleted as (
        delete from attendance_grant using old
        where attendance_grant.event_id = old.event_id and attendance_grant.nonce = old.nonce
        returning attendance_grant.event_id
      )
      update attendance_event set grants_expired = grants_expired + counted.deleted
      from (select event_id, count(*)::integer as deleted from deleted group by event_id) as counted
      where attendance_event.event_id = counted.event_id
      returning counted.deleted`.execute(db)
    isDone = rows.length === 0
  }
}

/** Deletes secrets whose time is over. */
export async function deleteEndedSecrets(db: Db, nowMs: number): Promise<void> {
  await db
    .deleteFrom('grant_secret')
    .where('valid_until_ms', '<', nowMs - CLOCK_DIFFERENCE_MS)
    .execute()
}
