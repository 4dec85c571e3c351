import { sql } from 'kysely'
import { FailedEvents, readAllEvents } from '../../db/all-events.ts'
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
  readonly encrypted: Buffer
  readonly untilMs: number
}

/** Stores an edit code, instead of an earlier one of the event. */
export async function putLoad(
  db: Db,
  { eventId, encrypted, untilMs }: CodeLoad,
  nextTryAtMs: number,
): Promise<void> {
  const values = { encrypted, until_ms: untilMs, next_try_at_ms: nextTryAtMs }
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

/** Takes what is due, the longest due first. No other process takes it before `nextTryAtMs`. */
export async function takeDueLoads(
  db: Db,
  { nowMs, nextTryAtMs, limit }: Readonly<Record<'nowMs' | 'nextTryAtMs' | 'limit', number>>,
): Promise<readonly CodeLoad[]> {
  const taken: CodeLoad[] = []
  const failed = new FailedEvents()
  let failedBefore: number
  do {
    failedBefore = failed.size
    const wanted = limit - taken.length
    const due = await readAllEvents(
      db,
      'code_load',
      (loads) => sql<{ event_id: number }>`
        select event_id from ${loads} where next_try_at_ms <= ${nowMs} and ${failed.others}
        order by next_try_at_ms limit ${wanted}`,
    )
    for (const { event_id } of due.slice(0, wanted)) {
      const load = await failed.try(event_id, () =>
        db
          .updateTable('code_load')
          .set({ next_try_at_ms: nextTryAtMs, last_try_at_ms: nowMs })
          .where('event_id', '=', event_id)
          .where('next_try_at_ms', '<=', nowMs) // another process may have taken it meanwhile
          .returning(['event_id as eventId', 'encrypted', 'until_ms as untilMs'])
          .executeTakeFirst(),
      )
      if (load) taken.push(load)
    }
  } while (failed.size > failedBefore)
  if (taken.length === 0) failed.throwFirst() // else those that are taken already go on
  return taken
}
