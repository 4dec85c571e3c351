import { type Coord, coordText } from '@landpass/client/grid'
import type { Db } from '../db/engine.ts'
import { inSnapshot, type Tx } from '../db/transaction.ts'
import { isKnownRevision, readChangedAssets } from '../land/changes/change-journal.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { readDistricts } from '../land/queries/district-queries.ts'
import { estatesById } from '../land/queries/estate-queries.ts'
import { parcelsAt } from '../land/queries/parcel-queries.ts'
import { publicationsByKey, publicationsOfEstates } from '../land/queries/publication-queries.ts'
import { districtListJson } from '../land/records/district.ts'
import type { ParcelTable } from '../land/records/parcel.ts'
import { factsOf } from './builders/build-parcels.ts'
import type { StateChanges } from './builders/patch-state.ts'
import { findParcelRow } from './parts/parcel-rows.ts'
import type { StateParts } from './parts/parts.ts'
import { positionsOf } from './parts/positions.ts'

/**
 * With more changed assets than this the state is built in a thread: patching them would block requests for too long.
 */
export const MAX_PATCHED_ASSETS = 2_000

/**
 * Reads what has changed since `held`, in one read transaction. The transaction is short, because on the embedded
 * engine all other queries wait for it.
 *
 * An estate or publication that is named and has no row was removed.
 *
 * @returns undefined where the state has to be built again: it is of another world or database, the journal does not
 * reach back to it, more than {@link MAX_PATCHED_ASSETS} assets have changed, or a parcel came or went
 */
export function readStateChanges(db: Db, held: StateParts): Promise<StateChanges | undefined> {
  return inSnapshot(db, async (tx) => {
    const { lineage, worldId, revision, changedAtMs, block, location } = await readLandHead(tx)
    if (location === 'moved' || lineage !== held.lineage || worldId !== held.worldId) return undefined
    if (!(await isKnownRevision(tx, held))) return undefined
    const range = { afterRevision: held.revision, toRevision: revision }
    const changed = await readChangedAssets(tx, worldId, range)
    if (!changed) return undefined
    const count = changed.parcels.length + changed.estates.length + changed.publications.length
    if (count > MAX_PATCHED_ASSETS) return undefined
    const parcels = await parcelsAt(tx, worldId, changed.parcels)
    if (!areSameParcels(held, changed.parcels, parcels)) return undefined
    const estates = await estatesById(tx, worldId, changed.estates)
    const known = positionsOf(held.estates.ids)
    const newIds = estates.map(({ id }) => id).filter((id) => !known.has(id))
    const named = await publicationsByKey(tx, worldId, changed.publications)
    // A publication can be older than the row of its estate.
    const ofNewEstates = await publicationsOfEstates(tx, worldId, newIds)
    const publications = [...new Map([...named, ...ofNewEstates].map((row) => [row.key, row])).values()]
    const districtList = await districtListAfter(tx, held, parcels)
    const removed = {
      estates: without(
        changed.estates,
        estates.map(({ id }) => id),
      ),
      publications: without(
        changed.publications,
        publications.map(({ key }) => key),
      ),
    }
    return {
      ...{ revision, changedAtMs, block: block ?? undefined },
      ...{ parcels, estates, publications, removed, districtList },
    }
  })
}

function without<T>(all: readonly T[], some: readonly T[]): T[] {
  const others = new Set(some)
  return all.filter((one) => !others.has(one))
}

/** Whether the state has all of these parcels that the tables have, and no others. */
function areSameParcels(
  { bounds, parcels }: StateParts,
  named: readonly Coord[],
  rows: readonly Coord[],
): boolean {
  const stored = new Set(rows.map(coordText))
  return named.every((coord) => findParcelRow(bounds, parcels, coord) >= 0 === stored.has(coordText(coord)))
}

/** The new list of districts; undefined where no parcel changed its district, so that no parcel count differs. */
async function districtListAfter(
  tx: Tx,
  { bounds, parcels, districts, worldId }: StateParts,
  changed: readonly ParcelTable[],
): Promise<Uint8Array | undefined> {
  const areSame = changed.every((parcel) => {
    const row = findParcelRow(bounds, parcels, parcel)
    return parcels.district[row] === factsOf(parcel, districts.ids).district
  })
  return areSame ? undefined : Buffer.from(districtListJson(await readDistricts(tx, worldId)))
}
