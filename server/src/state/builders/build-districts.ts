import type { Db } from '../../db/engine.ts'
import { districtNames, readDistricts } from '../../land/queries/district-queries.ts'
import { districtsNearParcels } from '../../land/queries/parcel-queries.ts'
import { districtListJson } from '../../land/records/district.ts'
import type { DistrictParts } from '../parts/parts.ts'
import { KINDS } from '../parts/tile-cells.ts'

/** All districts of a world, in the order of its snapshot, and the kinds of their parcels on a map. */
export async function buildDistricts(db: Db, worldId: number): Promise<Omit<DistrictParts, 'listJson'>> {
  const all = await districtNames(db, worldId)
  const roads = await districtsNearParcels(db, worldId, 'road')
  const plazas = await districtsNearParcels(db, worldId, 'plaza')
  return {
    ids: all.map(({ id }) => id),
    names: all.map(({ name }) => name),
    kinds: Uint8Array.from(all, ({ id }) =>
      roads.has(id) ? KINDS.road : plazas.has(id) ? KINDS.plaza : KINDS.district,
    ),
  }
}

/** `listJson` of {@link DistrictParts}. */
export async function buildDistrictList(db: Db, worldId: number): Promise<Uint8Array> {
  return new Uint8Array(Buffer.from(districtListJson(await readDistricts(db, worldId))))
}
