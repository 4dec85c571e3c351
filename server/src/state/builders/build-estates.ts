import type { Coord } from '@landpass/client/grid'
import { SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { allEstates } from '../../land/queries/estate-queries.ts'
import { operatorsOf } from '../../land/records/assets.ts'
import type { EstateTable } from '../../land/records/estate.ts'
import { estateJson } from '../../land/records/estate.ts'
import { pagedColumn } from '../parts/columns.ts'
import { compareEstateIds } from '../parts/estate-ids.ts'
import { membersOf } from '../parts/estate-members.ts'
import { JsonBufferWriter } from '../parts/json-buffer.ts'
import { OwnerIndexWriter, ownerOfRows } from '../parts/owner-index.ts'
import type { EstateParts, OrphanParcel } from '../parts/parts.ts'
import { positionsOf } from '../parts/positions.ts'
import { buildRents, rentOf } from '../parts/rents.ts'
import { type BuiltParcels, indexByOperator } from './build-parcels.ts'

export interface BuiltEstates {
  readonly parts: Omit<EstateParts, 'offers'>
  /** Row of the estate that holds each parcel, or -1. */
  readonly ofParcel: Int32Array
  readonly orphans: readonly OrphanParcel[]
}

export async function buildEstates(db: Db, worldId: number, parcels: BuiltParcels): Promise<BuiltEstates> {
  const rows = (await allEstates(db, worldId)).sort((a, b) => compareEstateIds(a.id, b.id))
  const ids = rows.map(({ id }) => id)
  const { ofParcel, orphans } = holdersOf(parcels, ids)
  const members = membersOf({ ...parcels, estate: ofParcel }, rows.keys())
  const json = new JsonBufferWriter()
  const owners = new OwnerIndexWriter()
  for (const [row, estate] of rows.entries()) {
    json.add(estatePiece(estate, members.get(row)!))
    owners.add(estate.owner, row)
  }
  const index = owners.finish()
  return {
    parts: {
      json: json.finish(),
      ids,
      size: Uint32Array.from(rows, (_, row) => members.get(row)!.length),
      owners: index,
      operators: indexByOperator(rows.map((estate) => ({ operators: operatorsOf(estate) }))),
      owner: ownerOfRows(index, rows.length),
      names: rows.map(({ name }) => name || undefined),
      updatedAtS: pagedColumn(Uint32Array.from(rows, updatedAtS)),
      rents: buildRents(rows.map(rentOf)),
    },
    ofParcel,
    orphans,
  }
}

/** An estate's piece of `EstateParts.json`. */
export function estatePiece(estate: EstateTable, members: readonly Coord[]): string {
  return `${estateJson(estate, members)},`
}

export function updatedAtS({ updated_at_ms }: EstateTable): number {
  return Math.floor(updated_at_ms / SECOND_MS)
}

function holdersOf({ estateIds }: BuiltParcels, ids: readonly string[]) {
  const rowOf = positionsOf(ids)
  const orphans: OrphanParcel[] = []
  const ofParcel = Int32Array.from(estateIds, (estateId, row) => {
    if (estateId === null) return -1
    const holder = rowOf.get(estateId)
    if (holder === undefined) orphans.push({ row, estateId })
    return holder ?? -1
  })
  return { ofParcel, orphans }
}
