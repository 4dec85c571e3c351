import type { Db } from '../../db/engine.ts'
import { readDistricts } from '../../land/queries/district-queries.ts'
import { districtListJson } from '../../land/records/district.ts'
import type { DistrictParts } from '../parts/parts.ts'
import { KINDS } from '../parts/tile-cells.ts'

/** All districts of a world, in the order of its snapshot, and what their parcels are on a map. */
export async function buildDistricts(db: Db, worldId: number): Promise<DistrictParts> {
  const all = await db
    .selectFrom('district')
    .select(['id', 'name'])
    .where('world_id', '=', worldId)
    .orderBy('position')
    .execute()
  const roads = await namedAs(db, worldId, 'road_district_id')
  const plazas = await namedAs(db, worldId, 'plaza_district_id')
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

/** Which districts are roads and plazas is said by the tags of the parcels near them. */
async function namedAs(
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
