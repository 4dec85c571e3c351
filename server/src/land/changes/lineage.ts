import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { DatabaseLocation } from '../../db/schema.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'
import { startJournal } from './change-journal.ts'
import { LAND_CHANNEL, type LandHead } from './land-head.ts'

/**
 * The lineage is a random text in every ETag. A revision of a lineage must mean the same bytes everywhere, so a database
 * needs a new lineage where it may go on from an earlier point than another one:
 *
 * - It was copied: restored from a dump into another cluster, database or table, or its folder was copied. The table
 *   `land_location` is copied with it, and says where the original was.
 * - Another server of a PostgreSQL cluster took over, or the cluster was restored to a point in time: both begin a new
 *   timeline. A standby may lack the last revisions that the old primary had shown. So clients read everything
 *   once after a failover, which is rare; most of these answers are shared.
 * - Its revision went back below one that this server has shown: an older content was restored in place.
 *
 * What cannot be detected is a copy of a whole machine or disk, and an older content of the same files in their place:
 * for these there is the command `landpass new-lineage`.
 */
export interface Renewal {
  readonly from: string
  readonly to: string
  /** For the log; undefined where there was no location before: in a new database. */
  readonly why: string | undefined
}

export interface RenewalFacts {
  /** See `folderIdentity`; undefined with PostgreSQL. */
  readonly folder: string | undefined
  readonly nowMs: number
  /** What this process has shown. */
  readonly shown?: Pick<LandHead, 'lineage' | 'revision'> | undefined
}

/**
 * Makes a new lineage if the database is not where it was, or has gone back behind what was shown. Of several processes
 * that call it at the same time one makes the lineage, and the others find nothing to do.
 *
 * @returns undefined where the lineage stays
 */
export function renewLineageIfMoved(db: Db, facts: RenewalFacts): Promise<Renewal | undefined> {
  return inTransaction(db, async (tx) => {
    const head = await lockHead(tx)
    const known = await tx.selectFrom('land_location').select(['location', 'folder']).executeTakeFirst()
    const why = known && whyMoved(known, head, facts)
    if (known && why === undefined) return undefined
    return { ...(await renew(tx, head, facts, known !== undefined)), why }
  })
}

/** A lineage that no database has: for answers of a database that has moved and cannot be written. */
export function newLineage(): string {
  return randomBytes(6).toString('hex')
}

/** Makes a new lineage. Running servers follow it at once. */
export function renewLineage(
  db: Db,
  facts: Omit<RenewalFacts, 'shown'>,
): Promise<Pick<Renewal, 'from' | 'to'>> {
  return inTransaction(db, async (tx) => renew(tx, await lockHead(tx), facts, true))
}

interface LockedHead extends Pick<LandHead, 'lineage' | 'worldId' | 'revision'> {
  readonly location: DatabaseLocation | null
}

/** The row is locked until the commit, so that a second process finds what the first one did. */
async function lockHead(tx: Tx): Promise<LockedHead> {
  const { rows } = await sql<LockedHead>`
    select lineage, world_id as "worldId", revision, database_location(tableoid) as location
    from land_state for update`.execute(tx)
  return rows[0]!
}

function whyMoved(
  known: { readonly location: DatabaseLocation; readonly folder: string | null },
  { lineage, revision, location }: LockedHead,
  { folder, shown }: RenewalFacts,
): string | undefined {
  if (shown?.lineage === lineage && shown.revision > revision)
    return `its revision is ${revision}, after ${shown.revision} was shown: an older content was restored`
  if (folder !== undefined && folder !== known.folder) return 'its folder is a copy of another one'
  if (location === null || isDeepStrictEqual(location, known.location)) return undefined
  if (location.cluster !== known.location.cluster) return 'it was restored in another PostgreSQL cluster'
  if (location.database !== known.location.database) return 'it is a copy of another database of this cluster'
  if (location.table !== known.location.table) return 'its tables were restored from a dump'
  return 'another server took over, or the cluster was restored to a point in time'
}

/**
 * @param isShown whether the lineage may have been shown. Then there is also a new revision, of now: a `Last-Modified` of
 * the other database is older.
 */
async function renew(
  tx: Tx,
  { lineage, worldId, revision, location }: LockedHead,
  { folder, nowMs }: RenewalFacts,
  isShown: boolean,
): Promise<Pick<Renewal, 'from' | 'to'>> {
  const to = newLineage()
  await tx.updateTable('land_state').set({ lineage: to }).execute()
  if (location) {
    const row = { location: JSON.stringify(location), folder: folder ?? null }
    await tx.deleteFrom('land_location').execute()
    await tx.insertInto('land_location').values(row).execute()
  }
  if (isShown && worldId !== null) {
    const next = revision + 1
    await tx.updateTable('land_state').set({ revision: next, changed_at_ms: nowMs }).execute()
    await startJournal(tx, { worldId, revision: next, changedAtMs: nowMs })
    await sql`select pg_notify(${LAND_CHANNEL}, ${String(next)})`.execute(tx)
  }
  return { from: lineage, to }
}
