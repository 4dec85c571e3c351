import type { Db } from '../../db/engine.ts'
import { readDistricts } from '../../land/queries/district-queries.ts'
import { districtListJson } from '../../land/records/district.ts'
import type { DistrictParts } from '../parts/parts.ts'
import { KINDS } from '../parts/tile-cells.ts'

/** All districts of a world, in the order of its snapshot, and the kinds of their parcels on a map. */
export async function buildDistricts(db: Db, worldId: number): Promise<DistrictParts> {
  const all = await db
    .selectFrom('district')
    .select(['id', 'name'])
    .where('world_id', '=', worldId)
    .orderBy('position')
    .execute()
  const roads = await districtsNamedIn(db, worldId, 'road_district_id')
  const plazas = await districtsNamedIn(db, worldId, 'plaza_district_id')
  const listed = await readDistricts(db, worldId)
  return {
    ids: all.map(({ id }) => id),
    names: all.map(({ name }) => name),
    kinds: Uint8Array.from(all, ({ id }) =>
      roads.has(id) ? KINDS.road : plazas.has(id) ? KINDS.plaza : KINDS.district,
    ),
    listJson: new Uint8Array(Buffer.from(districtListJson(listed))),
  }
}

/** The districts that are roads, or plazas: the tags of the parcels near them name their ids. */
async function districtsNamedIn(
  db: Db,
  worldId: number,
  column: 'road_district_id' | 'plaza_district_id',
): Promise<ReadonlySet<string | null>> {
  const rows = await db
    .selectFrom('parcel')
    .select(column)
    .distinct()
    .where('world_id', '=', worldId)
    .where(column, 'is not', null)
    .execute()
  return new Set(rows.map((row) => row[column]))
}
