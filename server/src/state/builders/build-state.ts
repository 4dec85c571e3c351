import type { World } from '@landpass/client/grid'
import type { Db } from '../../db/engine.ts'
import type { LandHead } from '../../land/changes/land-head.ts'
import { readUnlistedOffers } from '../../land/changes/unlisted-offers.ts'
import type { StateParts } from '../parts/parts.ts'
import { layTileCells, tileSource } from '../parts/tile-cells.ts'
import { assetRows } from './asset-rows.ts'
import { buildDistrictList, buildDistricts } from './build-districts.ts'
import { buildEstates } from './build-estates.ts'
import { buildParcels } from './build-parcels.ts'
import { buildPublications } from './build-publications.ts'

/**
 * Reads one world from the tables and builds its {@link StateParts}. It sends many short queries instead of one long
 * one, so that the embedded engine can answer requests in between.
 */
export async function buildState(
  db: Db,
  world: World,
  head: LandHead & { worldId: number },
): Promise<StateParts> {
  const { worldId, lineage, revision, changedAtMs, block } = head
  const districts = await buildDistricts(db, worldId)
  const parcels = await buildParcels(db, world, worldId, districts.ids)
  const estates = await buildEstates(db, worldId, parcels)
  const publications = await buildPublications(db, worldId, {
    parcels: parcels.x.length,
    estates: estates.parts.ids.length,
    assetRowOf: assetRows(world.bounds, parcels, estates.parts.ids),
    auctions: parcels.sales,
  })
  // After the parcels: a parcel of another district that is found in its row is in the counts too.
  const listJson = await buildDistrictList(db, worldId)
  const { estateIds, sales: _, ...parcelParts } = parcels
  return withCells({
    lineage,
    worldId,
    revision,
    changedAtMs,
    block: block ?? undefined,
    bounds: world.bounds,
    areas: world.areas,
    parcels: {
      ...parcelParts,
      estate: estates.ofParcel,
      orphans: estates.orphans,
      offers: { first: publications.firstOfParcel },
    },
    estates: { ...estates.parts, offers: { first: publications.firstOfEstate } },
    publications: publications.parts,
    sales: publications.sales,
    districts: { ...districts, listJson },
    unlisted: await readUnlistedOffers(db, worldId),
  })
}

function withCells(parts: Omit<StateParts, 'cells'>): StateParts {
  return { ...parts, cells: layTileCells(tileSource(parts)) }
}
