import { isDeepStrictEqual } from 'node:util'
import { coordText } from '@landpass/client/grid'
import { sql } from 'kysely'
import type { Tx } from '../../db/transaction.ts'
import type { LandEvent } from '../events/land-event.ts'
import type {
  Awaitable,
  BidRow,
  EstateRow,
  LandRows,
  ParcelRow,
  PublicationRow,
} from '../events/land-rows.ts'
import type { AssetName } from '../records/assets.ts'
import { ChangedSubjects, journalWrites, trimIfDue } from './change-journal.ts'
import { type RowChange, SHOWN_TABLES } from './event-tables.ts'
import { LAND_CHANNEL } from './land-head.ts'
import type { TableRows } from './table-rows.ts'
import { deleteGone, imageWrites, rowWrites, runWrites, type Write } from './write-rows.ts'

/** Applies an event to rows: the rules of land/events, with what they need to know besides. */
export type ApplyEvent = (rows: LandRows, event: LandEvent) => Awaitable<void>

/** What is written together with rows. */
export interface ChangeFacts {
  /** The revision of the world, before the change. The row `land_state` must be locked. */
  readonly revision: number
  readonly nowMs: number
  readonly writes?: readonly Write[]
  /** Assets whose offers have changed that are no publications. */
  readonly reoffered?: readonly AssetName[]
}

/**
 * Writes changed rows, images, journal and revision: in one statement, after one that deletes rows, where they are not
 * many. The revision stays where nothing that answers show has changed. Nothing else writes single changes of the land. It takes the
 * caller's open transaction, so that all of it is committed together with what the caller writes in it. The commit notifies the readers
 * in every process.
 */
export async function writeChange(
  tx: Tx,
  rows: TableRows,
  { revision, nowMs, writes = [], reoffered = [] }: ChangeFacts,
): Promise<void> {
  const { worldId } = rows
  const changes = await rows.changes()
  await deleteGone(tx, worldId, changes)
  const all = [...writes, ...imageWrites(worldId, await rows.images()), ...rowWrites(worldId, changes)]
  if (reoffered.length === 0 && !changes.some(({ table }) => SHOWN_TABLES.includes(table))) {
    await runWrites(tx, all)
    return
  }
  const next = { worldId, revision: revision + 1, changedAtMs: nowMs }
  const head = sql`update land_state set revision = ${next.revision}, changed_at_ms = ${nowMs}`
  const subjects = subjectsOf(changes)
  for (const { type, id } of reoffered) subjects.add(type, id)
  const journal = journalWrites(next, subjects)
  const announced = sql`pg_notify(${LAND_CHANNEL}, ${String(next.revision)})`
  await runWrites(tx, [...all, { sql: head, rows: 1 }, ...journal], announced)
  await trimIfDue(tx, next, journal)
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
      namePublication(subjects, before as PublicationRow | undefined, now as PublicationRow | undefined)
    // The state has only those bids that became sales.
    if (table === 'bid' && isSoldBid(before, now))
      subjects.add('bid', String(((before ?? now) as BidRow).key))
  }
  return subjects
}

function isSoldBid(...rows: readonly (object | undefined)[]): boolean {
  return rows.some((row) => (row as BidRow | undefined)?.status === 'sold')
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

/**
 * A publication that is removed does not say any more which asset it was for, nor one whose key another one has taken: so that
 * asset is named too.
 */
function namePublication(
  subjects: ChangedSubjects,
  before: PublicationRow | undefined,
  now: PublicationRow | undefined,
): void {
  subjects.add('publication', String((before ?? now)!.key))
  const isSameAsset = before?.asset_type === now?.asset_type && before?.asset_id === now?.asset_id
  if (before && !isSameAsset) subjects.add(before.asset_type, before.asset_id)
}
