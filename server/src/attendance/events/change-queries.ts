import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { MadeEventChangeTable } from '../../db/schema.ts'

/** A change of an event that was made here: it waits for the operator, or was refused. */
export type StoredChange = Omit<Selectable<MadeEventChangeTable>, 'image'> & {
  /** Whether it changes the picture too. */
  readonly has_image: boolean
}

/** Without the picture, which is large. */
export const CHANGE_COLUMNS = [
  'event_id',
  'name',
  'description',
  'event_url',
  'coordinates',
  'supply',
  'is_refused',
  'reason',
  'sent_at_ms',
  'draws_image',
  sql<boolean>`image is not null`.as('has_image'),
] as const

/** The change of an event that waits, or the last one that was refused. */
export function findChange(db: Db, eventId: number): Promise<StoredChange | undefined> {
  return db
    .selectFrom('made_event_change')
    .select(CHANGE_COLUMNS)
    .where('event_id', '=', eventId)
    .executeTakeFirst()
}

/** The change of an event that waits for the operator. */
export async function findWaitingChange(db: Db, eventId: number): Promise<StoredChange | undefined> {
  const change = await findChange(db, eventId)
  return change?.is_refused === false ? change : undefined
}

/** What the operator has answered for an event itself; undefined for one that was not made here. */
export function findAnswer(db: Db, eventId: number) {
  return db
    .selectFrom('made_event')
    .select(['approval', 'reason'])
    .where('event_id', '=', eventId)
    .executeTakeFirst()
}
