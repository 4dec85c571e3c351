import { sql } from 'kysely'
import { HOUR_MS, MINUTE_MS } from '../../../clock.ts'
import type { Db } from '../../../db/engine.ts'
import type { IssuerTokenTable } from '../../../db/schema.ts'

/** The longest valid lease: one that ends later was made by a process with a wrong clock, and is ignored. */
const LONGEST_LEASE_MS = 5 * MINUTE_MS

/** The right of one process to request a token. */
export interface Lease {
  readonly untilMs: number
}

/** The row with the token, which all processes share. */
export async function storedToken(db: Db): Promise<IssuerTokenTable> {
  return db.selectFrom('issuer_token').selectAll().executeTakeFirstOrThrow()
}

/**
 * Takes the lease, and counts the token request that follows. One statement, so that only one of several processes
 * gets the lease.
 *
 * @param seen the stored token that the caller cannot use; no lease if the stored token has changed since
 * @returns undefined when another process has the lease, when the stored token is not `seen`, or when `perHour` tokens
 * were requested in the last hour
 */
export async function takeLease(
  db: Db,
  lease: { seen: Buffer | null; nowMs: number; untilMs: number; perHour: number },
): Promise<Lease | undefined> {
  const { seen, nowMs, untilMs, perHour } = lease
  const row = await db
    .updateTable('issuer_token')
    .set({ asking_until_ms: untilMs, asked_at_ms: sql`${recentRequests(nowMs)} || ${nowMs}::bigint` })
    .where((eb) =>
      eb.or([eb('asking_until_ms', '<=', nowMs), eb('asking_until_ms', '>', nowMs + LONGEST_LEASE_MS)]),
    )
    .where(sql<boolean>`encrypted is not distinct from ${seen}::bytea`)
    .where(sql<boolean>`cardinality(${recentRequests(nowMs)}) < ${perHour}::integer`)
    .returning('asking_until_ms')
    .executeTakeFirst()
  return row && { untilMs: row.asking_until_ms }
}

/** Stores a token and releases the lease; does nothing when another process has the lease now. */
export async function storeToken(
  db: Db,
  lease: Lease,
  token: { encrypted: Buffer; expiresAtMs: number },
): Promise<void> {
  await db
    .updateTable('issuer_token')
    .set({ encrypted: token.encrypted, expires_at_ms: token.expiresAtMs, asking_until_ms: 0 })
    .where('asking_until_ms', '=', lease.untilMs)
    .execute()
}

/** Releases the lease without a token. */
export async function releaseLease(db: Db, lease: Lease): Promise<void> {
  await db
    .updateTable('issuer_token')
    .set({ asking_until_ms: 0 })
    .where('asking_until_ms', '=', lease.untilMs)
    .execute()
}

/** Whether a process has the lease: the rule of {@link takeLease}, for a row that was read. */
export function isLeased(token: IssuerTokenTable, nowMs: number): boolean {
  return token.asking_until_ms > nowMs && token.asking_until_ms <= nowMs + LONGEST_LEASE_MS
}

/** Times of the token requests of the last hour, oldest first. */
export function countedRequests(token: IssuerTokenTable, nowMs: number): readonly number[] {
  return token.asked_at_ms
    .filter((atMs) => atMs > nowMs - HOUR_MS && atMs <= nowMs + MINUTE_MS)
    .sort((a, b) => a - b)
}

/** SQL: the times of the last hour, without times in the future, which come from a wrong clock. */
function recentRequests(nowMs: number) {
  return sql<number[]>`array(select at_ms from unnest(asked_at_ms) as at_ms
    where at_ms > ${nowMs - HOUR_MS}::bigint and at_ms <= ${nowMs + MINUTE_MS}::bigint)`
}
