import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db } from '../../../../db/engine.ts'
import type { TokenKeyTable } from '../../../../db/schema.ts'
import { inTransaction, type Tx } from '../../../../db/transaction.ts'

/** When a key of our issuer signs, or signed. */
export type KeyTime = Selectable<TokenKeyTable>

/** All keys that ever signed or will sign, in the order of their times; of two of the same second, the one that goes on is last. */
export function listKeyTimes(db: Db): Promise<readonly KeyTime[]> {
  return db
    .selectFrom('token_key')
    .selectAll()
    .orderBy('from_s')
    .orderBy('until_s')
    .orderBy('address')
    .execute()
}

/**
 * For statements that store signatures: whether the key of a token signs messages of its time now. Servers cache the times of
 * keys, and a rotation or withdrawal may have come since.
 *
 * @param token the name of what has `signer` and `time_s` in the statement
 */
export function keySigns(token: 'token' | 'message'): RawBuilder<boolean> {
  const [signer, timeS] = [sql.ref(`${token}.signer`), sql.ref(`${token}.time_s`)]
  return sql<boolean>`exists (
    select from token_key where token_key.address = ${signer} and withdrawn_at_s is null
      and from_s <= ${timeS} and (until_s is null or ${timeS} < until_s)
  )`
}

/** Changes keys, in the database and in the file: one process at a time. */
export function inKeyTransaction<Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('landpass token keys'))`.execute(tx)
    return work(tx)
  })
}

export interface KeyToPublish {
  readonly address: string
  readonly fromS: number
  /** Left out: it has no end yet. */
  readonly untilS?: number | undefined
  readonly nowMs: number
}

/** Publishes a key, unless it is published. */
export async function publishKey(db: Db, { address, fromS, untilS, nowMs }: KeyToPublish): Promise<void> {
  await db
    .insertInto('token_key')
    .values({ address, from_s: fromS, until_s: untilS ?? null, withdrawn_at_s: null, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('address').doNothing())
    .execute()
}

/** Ends all keys but one that would sign at a time or later. One that would begin later never signs. */
export async function endOtherKeys(db: Db, except: string, untilS: number): Promise<void> {
  await db
    .updateTable('token_key')
    .set(({ fn, ref, val }) => ({ until_s: fn<number>('greatest', [ref('from_s'), val(untilS)]) }))
    .where(({ or, eb }) => or([eb('until_s', 'is', null), eb('until_s', '>', untilS)]))
    .where('address', '!=', except)
    .execute()
}

/**
 * Marks a key as stolen; it signs no more.
 *
 * @param untilS since when it does not sign
 * @param withdrawnS tokens count that the log has noted before
 * @returns false where it is not published, or was withdrawn before
 */
export async function withdrawKey(
  db: Db,
  address: string,
  { untilS, withdrawnS }: { readonly untilS: number; readonly withdrawnS: number },
): Promise<boolean> {
  const result = await db
    .updateTable('token_key')
    .set(({ fn, val }) => ({
      withdrawn_at_s: withdrawnS,
      until_s: fn<number>('least', [fn.coalesce('until_s', val(untilS)), val(untilS)]),
    }))
    .where('address', '=', address)
    .where('withdrawn_at_s', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}
