import { isDeepStrictEqual } from 'node:util'
import { coordText } from '@landpass/client/grid'
import { sql } from 'kysely'
import type { Tx } from '../../db/transaction.ts'
import type { LandEvent } from '../events/land-event.ts'
import type { Awaitable, EstateRow, LandRows, ParcelRow, PublicationRow } from '../events/land-rows.ts'
import { ChangedSubjects, writeJournal } from './change-journal.ts'
import { type RowChange, SHOWN_TABLES } from './event-tables.ts'
import { LAND_CHANNEL } from './land-head.ts'
import { TableRows } from './table-rows.ts'
import { writeImages, writeRows } from './write-rows.ts'

/** Applies an event to rows: the rules of land/events, with what they need to know besides. */
export type ApplyEvent = (rows: LandRows, event: LandEvent) => Awaitable<void>

/** What the transaction changes. */
export interface Change {
  /** Of the world, before the transaction. */
  readonly revision: number
  /** Whether the revision is a new one. It is not where nothing that answers show has changed. */
  readonly hasChanged: boolean
}

/**
 * The only function that changes the land apart from an import. It takes the caller's open transaction, so that what
 * the caller writes in it is committed together with the rows, the images of blocks, the journal and the next
 * revision. The commit notifies the readers in every process.
 *
 * @param work gets the rows of the world that is shown, and puts and removes rows
 * @example
 * await inTransaction(db, (tx) => changeLand(tx, clock.nowMs(), async (rows) => {
 *   const parcel = await rows.parcel({ x: 1, y: 2 })
 *   if (parcel) rows.put('parcel', { ...parcel, owner: null })
 * }))
 */
export async function changeLand(
  tx: Tx,
  nowMs: number,
  work: (rows: TableRows) => Promise<void>,
): Promise<Change> {
  // The row is locked until the commit: writers run one after another, and revisions have no gaps.
  const head = await tx
    .selectFrom('land_state')
    .select(['world_id', 'revision'])
    .forUpdate()
    .executeTakeFirstOrThrow()
  const { world_id: worldId } = head
  if (worldId === null) throw new Error('there is no world to change yet')
  const rows = new TableRows(tx, worldId)
  await work(rows)
  const changes = await rows.changes()
  await writeImages(tx, worldId, await rows.images())
  await writeRows(tx, worldId, changes)
  if (!changes.some(({ table }) => SHOWN_TABLES.includes(table)))
    return { revision: head.revision, hasChanged: false }
  const { revision } = await tx
    .updateTable('land_state')
    .set((eb) => ({ revision: eb('revision', '+', 1), changed_at_ms: nowMs }))
    .returning(['revision', sql`pg_notify(${LAND_CHANNEL}, revision::text)`.as('announced')])
    .executeTakeFirstOrThrow()
  await writeJournal(tx, { worldId, revision, changedAtMs: nowMs }, subjectsOf(changes))
  return { revision, hasChanged: true }
}

/** What of the state has to be read again after these rows have changed. */
function subjectsOf(changes: readonly RowChange[]): ChangedSubjects {
  const subjects = new ChangedSubjects()
  for (const { table, before, now } of changes) {
    // The rows of a change are those of its table.
    if (table === 'parcel')
      nameParcel(subjects, before as ParcelRow | undefined, now as ParcelRow | undefined)
    if (table === 'estate') subjects.add('estate', ((before ?? now) as EstateRow).id)
    if (table === 'publication')
      namePublication(subjects, (before ?? now) as PublicationRow, now === undefined)
  }
  return subjects
}

function nameParcel(
  subjects: ChangedSubjects,
  before: ParcelRow | undefined,
  now: ParcelRow | undefined,
): void {
  subjects.add('parcel', coordText((before ?? now)!))
  // The estate that it left and the one that it joined show their parcels, each in its own order.
  if (before?.estate_id !== now?.estate_id || before?.estate_position !== now?.estate_position)
    for (const id of [before?.estate_id, now?.estate_id]) if (id != null) subjects.add('estate', id)
  // What the tags of its parcels name makes a district a road or a plaza, and with it all others of that district.
  const tagsOf = (row: ParcelRow | undefined) => [
    row?.road_district_id ?? null,
    row?.plaza_district_id ?? null,
  ]
  if (!isDeepStrictEqual(tagsOf(before), tagsOf(now))) subjects.addEverything()
}

/** A removed publication does not say any more which asset it was for: so the asset is named too. */
function namePublication(
  subjects: ChangedSubjects,
  { key, asset_type, asset_id }: PublicationRow,
  isRemoved: boolean,
): void {
  subjects.add('publication', String(key))
  if (isRemoved) subjects.add(asset_type, asset_id)
}
