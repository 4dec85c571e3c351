import type { Area } from '@landpass/client/grid'
import type { ParcelTable } from '../../land/records/parcel.ts'
import { patchPages, withValues } from '../parts/columns.ts'
import { patchJsonBuffer } from '../parts/json-buffer.ts'
import { patchAddresses, patchOwnership } from '../parts/owner-index.ts'
import { findParcelRow } from '../parts/parcel-rows.ts'
import type { OrphanParcel, ParcelParts } from '../parts/parts.ts'
import { patchRents } from '../parts/rents.ts'
import { byXThenY, factsOf, type ParcelFacts, parcelPiece } from './build-parcels.ts'
import type { EstateRows } from './estate-rows.ts'

/** What parcels refer to: districts by index, and estates by row. */
interface References {
  readonly bounds: Area
  readonly districtIds: readonly string[]
  /** The ids of the estates of the held state, by their rows in it. */
  readonly estateIds: readonly string[]
  readonly estates: EstateRows
}

export interface PatchedParcels {
  readonly parcels: ParcelParts
  /** Rows of the parcels whose cell may have changed. */
  readonly redrawn: readonly number[]
}

/** Replaces parcels, given by their rows of the table. Parcels are added and removed only with a whole world. */
export function patchParcels(
  held: ParcelParts,
  table: readonly ParcelTable[],
  { bounds, districtIds, estateIds, estates }: References,
): PatchedParcels {
  const changed = new Map<number, ParcelFacts>()
  const pieces = new Map<number, string>()
  for (const parcel of table) {
    const row = findParcelRow(bounds, held, parcel)
    if (row < 0) continue
    changed.set(row, factsOf(parcel, districtIds))
    pieces.set(row, parcelPiece(parcel))
  }
  const orphaned = parcelsWithout(held, estateIds, estates)
  const unchangedOrphans = [...held.orphans, ...orphaned].filter(({ row }) => !changed.has(row))
  const redrawn = [...changed.keys(), ...unchangedOrphans.map(({ row }) => row)]
  const parcels = { ...held, ...patchEstateRows(held, changed, unchangedOrphans, estates) }
  if (changed.size === 0) return { parcels, redrawn }
  return {
    parcels: { ...parcels, ...patchFacts(held, changed), json: patchJsonBuffer(held.json, pieces) },
    redrawn,
  }
}

type Changed = ReadonlyMap<number, ParcelFacts>

/** The parcels that have lost their estate. */
function parcelsWithout(
  held: ParcelParts,
  estateIds: readonly string[],
  { newRowOf, areMoved }: EstateRows,
): OrphanParcel[] {
  if (!areMoved || !newRowOf.includes(-1)) return []
  const orphaned: OrphanParcel[] = []
  for (const [row, estate] of held.estate.entries())
    if (estate >= 0 && newRowOf[estate]! < 0) orphaned.push({ row, estateId: estateIds[estate]! })
  return orphaned
}

/** The estate row of each parcel, by the new rows of estates. An orphan gets its estate once that exists. */
function patchEstateRows(
  held: ParcelParts,
  changed: Changed,
  orphans: readonly OrphanParcel[],
  estates: EstateRows,
): Pick<ParcelParts, 'estate' | 'orphans'> {
  const wanted = [...orphans]
  for (const [row, { estateId }] of changed) if (estateId !== null) wanted.push({ row, estateId })
  const rowOf = new Map<number, number>()
  for (const row of changed.keys()) rowOf.set(row, -1)
  for (const { row, estateId } of wanted) rowOf.set(row, estates.rowOf(estateId))
  const { areMoved, newRowOf } = estates
  const moved = areMoved ? held.estate.map((row) => (row < 0 ? row : newRowOf[row]!)) : held.estate
  return {
    // What is made of this column is shared with the state before, where it is the same column.
    estate: withValues(moved, rowOf),
    orphans: wanted.filter(({ row }) => rowOf.get(row)! < 0),
  }
}

function patchFacts(held: ParcelParts, changed: Changed): Partial<ParcelParts> {
  const of = <Name extends keyof ParcelFacts>(name: Name) =>
    new Map([...changed].map(([row, facts]) => [row, facts[name]]))
  return {
    ...patchOwnership(held, of('owner'), byXThenY(held.x, held.y)),
    operators: patchAddresses(held.operators, of('operators')),
    estatePosition: withValues(held.estatePosition, of('estatePosition')),
    district: withValues(held.district, of('district')),
    names: withValues(held.names, of('name')),
    updatedAtS: patchPages(held.updatedAtS, of('updatedAtS')),
    plazaDistance: withValues(held.plazaDistance, of('plazaDistance')),
    roadDistance: withValues(held.roadDistance, of('roadDistance')),
    rents: patchRents(held.rents, of('rent')),
  }
}
