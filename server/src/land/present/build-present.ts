import type { Db } from '../../db/engine.ts'
import type { World } from '../../world/world.ts'
import type { LandState } from '../land-state.ts'
import { assetRows } from './asset-rows.ts'
import { buildDistricts } from './build-districts.ts'
import { buildEstates } from './build-estates.ts'
import { buildParcels } from './build-parcels.ts'
import { buildPublications } from './build-publications.ts'
import type { PresentParts } from './parts.ts'
import { layTileCells, tileSource } from './tile-cells.ts'

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
  const districts = await buildDistricts(db, worldId)
  const parcels = await buildParcels(db, world, worldId, districts.ids)
  const estates = await buildEstates(db, worldId, parcels)
  const publications = await buildPublications(db, worldId, {
    parcels: parcels.x.length,
    estates: estates.parts.ids.length,
    assetRowOf: assetRows(world.bounds, parcels.rowAt, estates.parts.ids),
  })
  const { estateIds, ...parcelParts } = parcels
  return withCells({
    lineage,
    worldId,
    revision,
    changedAtMs,
    bounds: world.bounds,
    parcels: {
      ...parcelParts,
      estate: estates.ofParcel,
      strays: estates.strays,
      offers: { first: publications.firstOfParcel },
    },
    estates: { ...estates.parts, offers: { first: publications.firstOfEstate } },
    publications: publications.parts,
    districts,
  })
}

function withCells(parts: Omit<PresentParts, 'cells'>): PresentParts {
  return { ...parts, cells: layTileCells(tileSource(parts)) }
}
