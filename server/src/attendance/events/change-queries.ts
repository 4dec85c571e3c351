import type { Selectable } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { MadeEventChangeTable } from '../../db/schema.ts'

/** A change of an event that was made here: it waits for the operator, or was refused. */
export type StoredChange = Selectable<MadeEventChangeTable>

/** The change of an event that waits, or the last one that was refused. */
export function findChange(db: Db, eventId: number): Promise<StoredChange | undefined> {
  return db.selectFrom('made_event_change').selectAll().where('event_id', '=', eventId).executeTakeFirst()
}

/** What the operator has answered for an event itself; undefined for one that was not made here. */
export function findAnswer(db: Db, eventId: number) {
  return db
    .selectFrom('made_event')
    .select(['approval', 'reason'])
    .where('event_id', '=', eventId)
    .executeTakeFirst()
}
