import type { Db } from '../../db/engine.ts'
import type { EstateTable } from '../../db/schema.ts'
import { estateJson } from '../estates/estate-json.ts'
import type { BuiltParcels } from './build-parcels.ts'
import { OwnerIndexWriter } from './owner-index.ts'
import type { JsonSlab, OwnerIndex } from './parts.ts'
import { SlabWriter } from './slab-writer.ts'

export interface BuiltEstates {
  readonly json: JsonSlab
  readonly ids: readonly string[]
  readonly size: Uint32Array
  readonly owners: OwnerIndex
  /** Row of the estate that holds each parcel, or -1. */
  readonly ofParcel: Int32Array
  rowOf(id: string): number
}

const PAGE_ROWS = 1000

export async function buildEstates(db: Db, worldId: number, parcels: BuiltParcels): Promise<BuiltEstates> {
  const rows = (await readEstates(db, worldId)).sort((a, b) => compareEstateIds(a.id, b.id))
  const json = new SlabWriter()
  const size = new Uint32Array(rows.length)
  const owners = new OwnerIndexWriter()
  const ofParcel = new Int32Array(parcels.x.length).fill(-1)
  rows.forEach((estate, row) => {
    const members = (parcels.membersOf.get(estate.id) ?? []).sort((a, b) => a.position - b.position)
    json.add(`${estateJson(estate, members)},`)
    size[row] = members.length
    owners.add(estate.owner, row)
    for (const member of members) ofParcel[member.row] = row
  })
  const ids = rows.map(({ id }) => id)
  const rowById = new Map(ids.map((id, row) => [id, row]))
  return {
    json: json.finish(),
    ids,
    size,
    owners: owners.finish(),
    ofParcel,
    rowOf: (id) => rowById.get(id) ?? -1,
  }
}

async function readEstates(db: Db, worldId: number): Promise<EstateTable[]> {
  const rows: EstateTable[] = []
  for (let lastId = ''; ; lastId = rows.at(-1)!.id) {
    const page = await db
      .selectFrom('estate')
      .selectAll()
      .where('world_id', '=', worldId)
      .where('id', '>', lastId)
      .orderBy('id')
      .limit(PAGE_ROWS)
      .execute()
    rows.push(...page)
    if (page.length < PAGE_ROWS) return rows
  }
}

/**
 * Orders estate ids as the numbers that they are.
 *
 * @example
 * compareEstateIds('9', '10') // -1
 */
export function compareEstateIds(a: string, b: string): number {
  return Math.sign(a.length - b.length) || (a < b ? -1 : a > b ? 1 : 0)
}
