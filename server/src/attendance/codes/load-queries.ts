import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'

/** What an organiser may see of an edit code that waits: until when, and when the issuer was last asked. */
export async function findLoad(db: Db, eventId: number) {
  return db
    .selectFrom('code_load')
    .select(['until_ms', 'last_try_at_ms'])
    .where('event_id', '=', eventId)
    .executeTakeFirst()
}

/** An edit code that waits. */
export interface CodeLoad {
  readonly eventId: number
  /** The edit code, encrypted. */
  readonly sealed: Buffer
  readonly untilMs: number
}

/** Stores an edit code, instead of an earlier one of the event. */
export async function putLoad(
  db: Db,
  { eventId, sealed, untilMs }: CodeLoad,
  nextTryAtMs: number,
): Promise<void> {
  const values = { sealed, until_ms: untilMs, next_try_at_ms: nextTryAtMs }
  await db
    .insertInto('code_load')
    .values({ event_id: eventId, last_try_at_ms: null, ...values })
    .onConflict((conflict) => conflict.column('event_id').doUpdateSet(values))
    .execute()
}

/** @param untilMs left out: whichever is stored */
export async function deleteLoad(db: Db, eventId: number, untilMs?: number): Promise<void> {
  const query = db.deleteFrom('code_load').where('event_id', '=', eventId)
  await (untilMs === undefined ? query : query.where('until_ms', '=', untilMs)).execute()
}

export async function deleteExpiredLoads(db: Db, nowMs: number): Promise<void> {
  await db.deleteFrom('code_load').where('until_ms', '<=', nowMs).execute()
}

/** Takes what is due, the longest due first. No other process takes it before `nextTryAtMs`. */
export async function takeDueLoads(
  db: Db,
  { nowMs, nextTryAtMs, limit }: Readonly<Record<'nowMs' | 'nextTryAtMs' | 'limit', number>>,
): Promise<readonly CodeLoad[]> {
  const { rows } = await sql<CodeLoad>`
    update code_load set next_try_at_ms = ${nextTryAtMs}, last_try_at_ms = ${nowMs}
    where event_id in (
      select event_id from code_load where next_try_at_ms <= ${nowMs}
      order by next_try_at_ms limit ${limit} for update skip locked
    )
    returning event_id as "eventId", sealed, until_ms as "untilMs"`.execute(db)
  return rows
}
