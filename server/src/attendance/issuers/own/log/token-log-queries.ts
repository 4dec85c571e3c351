import { sql } from 'kysely'
import { DAY_MS } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import { inTransaction, type Tx } from '../../../../db/transaction.ts'

/** A limit that no number of tokens reaches: the largest 32-bit integer. */
const MAX_ROWS = 2_147_483_647

/** An entry of the log. */
export interface LoggedToken {
  readonly position: number
  readonly uid: Buffer
  readonly signer: string
  readonly noted_at_ms: number
}

/** Where a token is in the log, and since when. */
export type LogPlace = Pick<LoggedToken, 'position' | 'noted_at_ms'>

/** The Merkle root of the log at the end of a day. */
export interface LogRoot {
  /** Days since 1970-01-01, UTC. */
  readonly day: number
  /** Entries up to there. */
  readonly leaves: number
  readonly root: Buffer
}

/**
 * Notes signed tokens at the end of the log, the oldest first. The times of entries never go back, and none is in a day
 * that has its root, whatever the clocks of the processes say.
 *
 * @returns how many were noted
 */
export function noteTokens(db: Db, batch: { readonly nowMs: number; readonly limit: number }) {
  return inTransaction(db, (tx) => noteTokensIn(tx, batch))
}

/** Notes the tokens that are signed by now. Other transactions write into the log after this one has ended. */
export async function noteSignedTokens(tx: Tx, nowMs: number): Promise<void> {
  await noteTokensIn(tx, { nowMs, limit: MAX_ROWS })
}

/**
 * Notes all signed tokens. No process can store a token or a signature until the transaction ends.
 *
 * @returns when the last token of a signer was noted; undefined for a signer without tokens
 */
export async function noteAllTokens(
  tx: Tx,
  { signer, nowMs }: { readonly signer: string; readonly nowMs: number },
): Promise<number | undefined> {
  await lockLog(tx) // before the tokens, as in noteTokens: no deadlock
  await lockTokens(tx)
  await noteTokensIn(tx, { nowMs, limit: MAX_ROWS })
  const last = await tx
    .selectFrom('token_log')
    .select(({ fn }) => fn.max<number | null>('noted_at_ms').as('at_ms'))
    .where('signer', '=', signer)
    .executeTakeFirst()
  return last?.at_ms == null ? undefined : Number(last.at_ms)
}

/** Locks the table of tokens: no process can store a token or a signature until the transaction ends. */
export async function lockTokens(tx: Tx): Promise<undefined> {
  // With Citus on the coordinator only, by which all claims come. Else it is locked on each node, in the order of their names: a claim
  // that runs would wait at its worker for this transaction, and this transaction at the coordinator for the claim
  await sql`set local citus.enable_ddl_propagation = off`.execute(tx)
  await sql`lock table token in share row exclusive mode`.execute(tx)
  await sql`set local citus.enable_ddl_propagation = on`.execute(tx)
}

/** The time in the newest token of a signer, or of all signers, in seconds; 0 where there is none. */
export async function lastTokenS(tx: Tx, signer?: string): Promise<number> {
  let signed = tx.selectFrom('token').where('signature', 'is not', null)
  if (signer !== undefined) signed = signed.where('signer', '=', signer)
  const last = await signed
    .select(({ fn }) => fn.max<number | string | null>('time_s').as('time_s'))
    .executeTakeFirst()
  return Number(last?.time_s ?? 0)
}

async function noteTokensIn(tx: Tx, { nowMs, limit }: { readonly nowMs: number; readonly limit: number }) {
  await lockLog(tx)
  const { rows } = await sql<{ token_id: string }>`
      with unlogged as (
        select event_id, id, uid, signer, row_number() over (order by time_s, id) as number from token
        where signature is not null and not is_logged order by time_s, id limit ${limit}
      ), last as (
        select coalesce((select max(position) from token_log), -1) as position,
          greatest(${nowMs}::bigint, (select noted_at_ms from token_log order by position desc limit 1),
            (select (max(day) + 1) * ${DAY_MS}::bigint from token_log_root)) as at_ms
      ), marked as (
        update token set is_logged = true from unlogged where token.event_id = unlogged.event_id and token.id = unlogged.id
      )
      insert into token_log (position, token_id, uid, signer, noted_at_ms)
      select last.position + unlogged.number, unlogged.id, unlogged.uid, unlogged.signer, last.at_ms from unlogged, last
      returning token_id`.execute(tx)
  return rows.length
}

export async function lastRoot(db: Db): Promise<LogRoot | undefined> {
  return db.selectFrom('token_log_root').selectAll().orderBy('day', 'desc').limit(1).executeTakeFirst()
}

/** Roots of days that end within a range of positions. */
export function rootsBetween(db: Db, from: number, to: number): Promise<readonly LogRoot[]> {
  return db
    .selectFrom('token_log_root')
    .select(['day', 'leaves', 'root'])
    .where('leaves', '>', from)
    .where('leaves', '<=', to)
    .orderBy('day')
    .execute()
}

/** Undefined for a token that is not noted yet. */
export function findLogPlace(db: Db, tokenId: string): Promise<LogPlace | undefined> {
  return db
    .selectFrom('token_log')
    .select(['position', 'noted_at_ms'])
    .where('token_id', '=', tokenId)
    .executeTakeFirst()
}

export function readLog(
  db: Db,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<readonly LoggedToken[]> {
  return db
    .selectFrom('token_log')
    .select(['position', 'uid', 'signer', 'noted_at_ms'])
    .where('position', '>=', from)
    .orderBy('position')
    .limit(limit)
    .execute()
}

/**
 * Stores the root of a day. Does nothing where the day has a root, or where the log has got further entries of the day since.
 *
 * @returns whether the root was stored
 */
export function storeRoot(
  db: Db,
  { day, leaves, root }: LogRoot,
  { nowMs }: { readonly nowMs: number },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await lockLog(tx)
    const { rows } = await sql`
      insert into token_log_root (day, leaves, root, made_at_ms)
      select ${day}::integer, ${leaves}::bigint, ${root}::bytea, ${nowMs}::bigint
      where not exists (
        select from token_log where position >= ${leaves}::bigint and noted_at_ms < ${(day + 1) * DAY_MS}::bigint
      )
      on conflict do nothing returning day`.execute(tx)
    return rows.length === 1
  })
}

/** One process writes at a time. */
async function lockLog(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('landpass token log'))`.execute(tx)
}
