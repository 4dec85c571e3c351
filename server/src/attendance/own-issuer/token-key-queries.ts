import type { Selectable } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { TokenKeyTable } from '../../db/schema.ts'

/** When a key of our issuer signs, or signed. */
export type KeyTime = Selectable<TokenKeyTable>

/** All keys that ever signed or will sign, in the order of their times. */
export function listKeyTimes(db: Db): Promise<readonly KeyTime[]> {
  return db.selectFrom('token_key').selectAll().orderBy('from_s').orderBy('address').execute()
}

/** Publishes a key, unless it is published. */
export async function publishKey(
  db: Db,
  { address, fromS, nowMs }: { readonly address: string; readonly fromS: number; readonly nowMs: number },
): Promise<void> {
  await db
    .insertInto('token_key')
    .values({ address, from_s: fromS, until_s: null, withdrawn_at_s: null, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('address').doNothing())
    .execute()
}

/** Sets the end of all keys that have none, but one. */
export async function endOtherKeys(db: Db, except: string, untilS: number): Promise<void> {
  await db
    .updateTable('token_key')
    .set({ until_s: untilS })
    .where('until_s', 'is', null)
    .where('address', '!=', except)
    .execute()
}

/** Marks a key as stolen; it signs no more. @returns false where it is not published, or was withdrawn before */
export async function withdrawKey(db: Db, address: string, atS: number): Promise<boolean> {
  const result = await db
    .updateTable('token_key')
    .set(({ fn, val }) => ({
      withdrawn_at_s: atS,
      until_s: fn<number>('least', [fn.coalesce('until_s', val(atS)), val(atS)]),
    }))
    .where('address', '=', address)
    .where('withdrawn_at_s', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}
