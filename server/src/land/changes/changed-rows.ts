import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { BidTable } from '../records/bid.ts'
import type { EstateTable } from '../records/estate.ts'
import type { ParcelTable } from '../records/parcel.ts'
import type { PublicationTable } from '../records/publication.ts'
import type { UnlistedOffer } from '../records/unlisted-offer.ts'
import {
  type ChangedAssets,
  changedAssetsOf,
  type JournalEntry,
  KEPT_ROWS,
  type Subject,
} from './change-journal.ts'
import { exactRows, jsonRows } from './json-rows.ts'
import { LAND_HEAD, type StoredHead } from './land-head.ts'
import { unlistedOffers } from './unlisted-offers.ts'

/** What has changed since a revision, all of it read at the same time. */
export interface ChangedRows {
  readonly head: StoredHead
  readonly changed: ChangedAssets
  /** Those of `changed` that have rows, in no particular order. Raw texts of owners are left out. */
  readonly parcels: readonly ParcelTable[]
  readonly estates: readonly EstateTable[]
  readonly publications: readonly PublicationTable[]
  /** Bids that were accepted, or whose acceptance was undone: their keys, and the rows of those that have one. */
  readonly changedBids: readonly number[]
  readonly bids: readonly BidTable[]
  /** Open offers of the changed parcels and estates that are no publications. */
  readonly unlisted: readonly UnlistedOffer[]
}

/** A revision that a process holds, and the lineage of the database that it was read from. */
export interface HeldRevision extends JournalEntry {
  readonly lineage: string
}

/**
 * Reads what has changed in a world since a revision of it, with one statement.
 *
 * @param limit more changed assets are not read
 * @returns undefined where another world is shown, where the database has moved (lineage.ts) or the revision is not part of its
 * history but of another that went on from the same backup, and where the journal cannot tell what has changed, or names
 * more than `limit` assets
 */
export async function readChangedRows(
  db: Db,
  held: HeldRevision,
  limit: number,
): Promise<ChangedRows | undefined> {
  const { worldId, revision, changedAtMs } = held
  // Each key once: the journal names an asset again for each revision that changed it.
  const keys = (subject: Subject['subject']) =>
    sql`array(select key from journal where subject = ${subject} group by key limit ${limit + 1})`
  const ofWorld = (where: RawBuilder<unknown>) => sql`world_id = ${worldId} and ${where}`
  const parcels = ofWorld(sql`(x, y) in (
    select split_part(key, ',', 1)::integer, split_part(key, ',', 2)::integer from unnest(${keys('parcel')}) as key)`)
  const estates = ofWorld(sql`id = any(${keys('estate')})`)
  const publications = ofWorld(sql`key = any(${keys('publication')}::bigint[])`)
  const bids = ofWorld(sql`key = any(${keys('bid')}::bigint[])`)
  const ofChangedAssets = sql`((asset_type = 'parcel' and asset_id = any(${keys('parcel')}))
    or (asset_type = 'estate' and asset_id = any(${keys('estate')})))`
  const { rows } = await sql<StatementRow>`
    with head as (${LAND_HEAD}), journal as materialized (
      select subject, key from land_change
      where world_id = ${worldId} and revision > ${revision} and revision <= (select head.revision from head)
      order by land_change.revision, subject, key limit ${KEPT_ROWS + 1}
    )
    select to_json(head) as head, exists (
        select from land_change where revision = ${revision} and subject in ('revision', 'anything')
          and key = ${String(changedAtMs)} and world_id = ${worldId}
      ) as "isKnown",
      (select coalesce(json_agg(journal), '[]') from journal) as journal,
      ${jsonRows({ table: 'parcel', where: parcels, isForAnswers: true })} as parcels,
      ${jsonRows({ table: 'estate', where: estates, isForAnswers: true })} as estates,
      ${jsonRows({ table: 'publication', where: publications, isForAnswers: true })} as publications,
      ${jsonRows({ table: 'bid', where: bids, isForAnswers: true })} as bids,
      ${unlistedOffers(worldId, ofChangedAssets)} as unlisted
    from head`.execute(db)
  const { isKnown, journal, ...read } = rows[0]!
  const { head } = read
  const isOfHeld = isKnown && head.lineage === held.lineage && head.worldId === worldId
  if (!isOfHeld || head.location === 'moved') return undefined
  const changed = changedAssetsOf(journal, { afterRevision: revision, toRevision: head.revision })
  if (!changed) return undefined
  const changedBids = [
    ...new Set(journal.filter(({ subject }) => subject === 'bid').map(({ key }) => Number(key))),
  ]
  const count =
    changed.parcels.length + changed.estates.length + changed.publications.length + changedBids.length
  if (count > limit) return undefined
  return {
    ...{ head, changed, changedBids },
    parcels: exactRows(read.parcels),
    estates: exactRows(read.estates),
    publications: exactRows(read.publications),
    bids: exactRows(read.bids),
    unlisted: read.unlisted,
  }
}

interface StatementRow extends Omit<ChangedRows, 'changed' | 'changedBids'> {
  readonly isKnown: boolean
  readonly journal: readonly Subject[]
}
