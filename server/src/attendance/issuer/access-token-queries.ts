import { sql } from 'kysely'
import { HOUR_MS, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { IssuerTokenTable } from '../../db/schema.ts'

/** No lease is longer: one that ends later was made by a clock that was wrong, and binds nobody. */
const LONGEST_LEASE_MS = 5 * MINUTE_MS

/** The right to ask for a token, of one process at a time. */
export interface Lease {
  readonly untilMs: number
}

/** What all processes know of the token. */
export async function storedToken(db: Db): Promise<IssuerTokenTable> {
  return db.selectFrom('issuer_token').selectAll().executeTakeFirstOrThrow()
}

/**
 * Takes the lease, and counts the request that it is for. One statement: of several processes that try at once, one
 * gets it.
 *
 * @param seen the stored token that the caller found useless: another one by now may be a good one
 * @returns undefined when another process asks, when the token is another one by now, or when `perHour` tokens were
 * asked for in the last hour
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
    .where(sql<boolean>`sealed is not distinct from ${seen}::bytea`)
    .where(sql<boolean>`cardinality(${recentRequests(nowMs)}) < ${perHour}::integer`)
    .returning('asking_until_ms')
    .executeTakeFirst()
  return row && { untilMs: row.asking_until_ms }
}

/** Stores a token and gives the lease back; does nothing when the lease has passed to another process. */
export async function storeToken(
  db: Db,
  lease: Lease,
  token: { sealed: Buffer; expiresAtMs: number },
): Promise<void> {
  await db
    .updateTable('issuer_token')
    .set({ sealed: token.sealed, expires_at_ms: token.expiresAtMs, asking_until_ms: 0 })
    .where('asking_until_ms', '=', lease.untilMs)
    .execute()
}

/** Gives the lease back without a token. */
export async function releaseLease(db: Db, lease: Lease): Promise<void> {
  await db
    .updateTable('issuer_token')
    .set({ asking_until_ms: 0 })
    .where('asking_until_ms', '=', lease.untilMs)
    .execute()
}

/** The same rule as in {@link takeLease}, for values that were read. */
export function isLeased(token: IssuerTokenTable, nowMs: number): boolean {
  return token.asking_until_ms > nowMs && token.asking_until_ms <= nowMs + LONGEST_LEASE_MS
}

/** Times of requests that still count, oldest first. */
export function countedRequests(token: IssuerTokenTable, nowMs: number): readonly number[] {
  return token.asked_at_ms
    .filter((atMs) => atMs > nowMs - HOUR_MS && atMs <= nowMs + MINUTE_MS)
    .sort((a, b) => a - b)
}

/** Without those of the last hour before this one, and without those of a clock that was ahead. */
function recentRequests(nowMs: number) {
  return sql<number[]>`array(select at_ms from unnest(asked_at_ms) as at_ms
    where at_ms > ${nowMs - HOUR_MS}::bigint and at_ms <= ${nowMs + MINUTE_MS}::bigint)`
}
