import { type Coord, coordText } from '@landpass/client/grid'
import type { Db } from '../db/engine.ts'
import { inSnapshot } from '../db/transaction.ts'
import { readChangedRows } from '../land/changes/changed-rows.ts'
import { readDistricts } from '../land/queries/district-queries.ts'
import { publicationsOfEstates } from '../land/queries/publication-queries.ts'
import { districtListJson } from '../land/records/district.ts'
import type { EstateTable } from '../land/records/estate.ts'
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
 * Reads what has changed since `held`, with one statement: on the embedded engine all other ones wait for a transaction.
 * Only where there is a new estate, or a district has gained or lost parcels, everything is read again in one transaction,
 * with the publications of that estate, which can be older than its row, and with the list of districts.
 *
 * An estate or publication that is named and has no row was removed.
 *
 * @returns undefined where the state has to be built again: it is of another world or database, the journal does not
 * reach back to it, more than {@link MAX_PATCHED_ASSETS} assets have changed, or a parcel came or went
 */
export async function readStateChanges(db: Db, held: StateParts): Promise<StateChanges | undefined> {
  const changes = await readChanges(db, held)
  if (!changes) return undefined
  const hasNewEstates = newEstates(held, changes.estates).length > 0
  if (!hasNewEstates && areDistrictsSame(held, changes.parcels)) return changes
  return inSnapshot(db, async (tx) => {
    const again = await readChanges(tx, held)
    return again && { ...again, ...(await readWhatFollows(tx, held, again)) }
  })
}

async function readChanges(db: Db, held: StateParts): Promise<StateChanges | undefined> {
  const read = await readChangedRows(db, held, MAX_PATCHED_ASSETS)
  if (!read) return undefined
  const { head, changed, parcels, estates, publications, changedBids, bids, unlisted } = read
  if (!areSameParcels(held, changed.parcels, parcels)) return undefined
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
    ...{ revision: head.revision, changedAtMs: head.changedAtMs, block: head.block ?? undefined },
    ...{ parcels, estates, publications, changedBids, bids, unlisted, removed, districtList: undefined },
  }
}

/** What the journal does not name, and changes with what it names. */
async function readWhatFollows(
  db: Db,
  held: StateParts,
  { parcels, estates, publications }: StateChanges,
): Promise<Pick<StateChanges, 'publications' | 'districtList'>> {
  const ofNewEstates = await publicationsOfEstates(db, held.worldId, newEstates(held, estates))
  return {
    publications: [...new Map([...publications, ...ofNewEstates].map((row) => [row.key, row])).values()],
    districtList: areDistrictsSame(held, parcels)
      ? undefined
      : Buffer.from(districtListJson(await readDistricts(db, held.worldId))),
  }
}

/** The ids of the estates that the state does not have. */
function newEstates(held: StateParts, estates: readonly EstateTable[]): readonly string[] {
  const known = positionsOf(held.estates.ids)
  return estates.map(({ id }) => id).filter((id) => !known.has(id))
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

/** Whether no parcel has changed its district, so that no count of parcels differs. */
function areDistrictsSame(
  { bounds, parcels, districts }: StateParts,
  changed: readonly ParcelTable[],
): boolean {
  return changed.every((parcel) => {
    const row = findParcelRow(bounds, parcels, parcel)
    return parcels.district[row] === factsOf(parcel, districts.ids).district
  })
}
