import type { Db } from '../../db/engine.ts'

/** What an organiser may see of an edit code that waits: until when, and when the issuer was last asked. */
export async function findLoad(db: Db, eventId: number) {
  return db
    .selectFrom('code_load')
    .select(['until_ms', 'last_try_at_ms'])
    .where('event_id', '=', eventId)
    .executeTakeFirst()
}
