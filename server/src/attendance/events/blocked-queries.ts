import type { Db } from '../../db/engine.ts'

/** How many players of an event are blocked. */
export async function countBlocked(db: Db, eventId: number): Promise<number> {
  const { count } = await db
    .selectFrom('attendance_blocked')
    .select(({ fn }) => fn.countAll<string | number>().as('count'))
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow()
  return Number(count)
}
