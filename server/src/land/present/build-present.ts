import type { Db } from '../../db/engine.ts'
import type { World } from '../../world/world.ts'
import { districtListJson } from '../districts/district-json.ts'
import { readDistricts } from '../districts/district-queries.ts'
import type { LandState } from '../land-state.ts'
import { buildEstates } from './build-estates.ts'
import { buildParcels } from './build-parcels.ts'
import { buildPublications } from './build-publications.ts'
import type { PresentParts } from './parts.ts'

/**
 * Reads one world from the tables and lays it out as {@link PresentParts}. Many short statements rather than one
 * long one: the embedded engine serves readers in between.
 */
export async function buildPresent(
  db: Db,
  world: World,
  state: LandState & { worldId: number },
): Promise<PresentParts> {
  const { worldId, lineage, revision, changedAtMs } = state
  const districts = await readDistricts(db, worldId)
  const parcels = await buildParcels(db, world, worldId)
  const estates = await buildEstates(db, worldId, parcels)
  const publications = await buildPublications(db, worldId, { parcels, estates })
  return {
    lineage,
    worldId,
    revision,
    changedAtMs,
    bounds: world.bounds,
    parcels: {
      json: parcels.json,
      x: parcels.x,
      y: parcels.y,
      rowAt: parcels.rowAt,
      estate: estates.ofParcel,
      owners: parcels.owners,
      offers: { first: publications.firstOfParcel },
    },
    estates: {
      json: estates.json,
      ids: estates.ids,
      size: estates.size,
      owners: estates.owners,
      offers: { first: publications.firstOfEstate },
    },
    publications: publications.parts,
    districts: new Uint8Array(Buffer.from(districtListJson(districts))),
  }
}
