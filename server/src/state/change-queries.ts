import { type Coord, cellOf } from '@landpass/client/grid'
import { sql } from 'kysely'
import type { Db } from '../db/engine.ts'
import { inSnapshot, type Tx } from '../db/transaction.ts'
import { isKnownRevision, readChangedAssets } from '../land/changes/change-journal.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { readDistricts } from '../land/queries/district-queries.ts'
import { publicationsByKey } from '../land/queries/publication-queries.ts'
import { districtListJson } from '../land/records/district.ts'
import type { EstateTable } from '../land/records/estate.ts'
import type { ParcelTable } from '../land/records/parcel.ts'
import type { PublicationTable } from '../land/records/publication.ts'
import { factsOf } from './builders/build-parcels.ts'
import type { StateChanges } from './builders/patch-state.ts'
import type { StateParts } from './parts/parts.ts'
import { placesOf } from './parts/places.ts'

/** More changed assets than this are read and laid out apart: patching them would hold up the readers. */
export const PATCHED_ASSETS = 2_000

/**
 * What has changed since the state that is held, read in one snapshot of the database. It is short: on the embedded
 * engine everybody else waits for it.
 *
 * @returns undefined where the state has to be built anew: one of another world or another history, more changes than
 * the journal knows, or more than {@link PATCHED_ASSETS}
 */
export function readStateChanges(db: Db, held: StateParts): Promise<StateChanges | undefined> {
  return inSnapshot(db, async (tx) => {
    const { lineage, worldId, revision, changedAtMs } = await readLandHead(tx)
    if (lineage !== held.lineage || worldId !== held.worldId) return undefined
    if (!(await isKnownRevision(tx, held))) return undefined
    const range = { afterRevision: held.revision, toRevision: revision }
    const changed = await readChangedAssets(tx, worldId, range)
    if (!changed) return undefined
    const count = changed.parcels.length + changed.estates.length + changed.publications.length
    if (count > PATCHED_ASSETS) return undefined
    const parcels = await parcelsAt(tx, worldId, changed.parcels)
    const estates = await estatesWith(tx, worldId, changed.estates)
    const known = placesOf(held.estates.ids)
    const fresh = estates.map(({ id }) => id).filter((id) => !known.has(id))
    const publications = [
      ...(await publicationsByKey(tx, worldId, changed.publications)),
      ...(await publicationsOfEstates(tx, worldId, fresh, changed.publications)),
    ]
    const districtList = await districtListAfter(tx, held, parcels)
    return { revision, changedAtMs, parcels, estates, publications, districtList }
  })
}

async function parcelsAt(tx: Tx, worldId: number, coords: readonly Coord[]): Promise<ParcelTable[]> {
  if (coords.length === 0) return []
  const [xs, ys] = [coords.map(({ x }) => x), coords.map(({ y }) => y)]
  return tx
    .selectFrom('parcel')
    .selectAll()
    .where('world_id', '=', worldId)
    .where(sql<boolean>`(x, y) in (select * from unnest(${xs}::integer[], ${ys}::integer[]))`)
    .execute()
}

async function estatesWith(tx: Tx, worldId: number, ids: readonly string[]): Promise<EstateTable[]> {
  if (ids.length === 0) return []
  return tx
    .selectFrom('estate')
    .selectAll()
    .where('world_id', '=', worldId)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute()
}

/** Offers may have been there before the estate that they are for. */
async function publicationsOfEstates(
  tx: Tx,
  worldId: number,
  ids: readonly string[],
  readAlready: readonly number[],
): Promise<PublicationTable[]> {
  if (ids.length === 0) return []
  const rows = await tx
    .selectFrom('publication')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('asset_type', '=', 'estate')
    .where(sql<boolean>`asset_id = any(${ids}::text[])`)
    .execute()
  return rows.filter(({ key }) => !readAlready.includes(key))
}

/** The list says how many parcels each district has, and only then changes. */
async function districtListAfter(
  tx: Tx,
  { bounds, parcels, districts, worldId }: StateParts,
  changed: readonly ParcelTable[],
): Promise<Uint8Array | undefined> {
  const areSame = changed.every((parcel) => {
    const row = parcels.rowAt[cellOf(bounds, parcel)] ?? -1
    return parcels.district[row] === factsOf(parcel, districts.ids).district
  })
  return areSame ? undefined : Buffer.from(districtListJson(await readDistricts(tx, worldId)))
}
