import type { Db } from '../../db/engine.ts'
import { type AssetRowOf, type ListedPublication, listPublication } from './listed-publication.ts'
import { NO_PUBLICATIONS, type OfferedPublications, patchPublications } from './patch-publications.ts'

/** How many there are of each, and which is which. */
interface Assets {
  readonly parcels: number
  readonly estates: number
  readonly assetRowOf: AssetRowOf
}

const PAGE_ROWS = 2000

export async function buildPublications(
  db: Db,
  worldId: number,
  { parcels, estates, assetRowOf }: Assets,
): Promise<OfferedPublications> {
  const nothing = {
    parts: NO_PUBLICATIONS,
    firstOfParcel: new Int32Array(parcels).fill(-1),
    firstOfEstate: new Int32Array(estates).fill(-1),
  }
  return patchPublications(nothing, await readPublications(db, worldId, assetRowOf))
}

async function readPublications(
  db: Db,
  worldId: number,
  assetRowOf: AssetRowOf,
): Promise<ListedPublication[]> {
  const listed: ListedPublication[] = []
  for (let lastKey = -1; ; lastKey = listed.at(-1)!.key) {
    const page = await db
      .selectFrom('publication')
      .selectAll()
      .where('world_id', '=', worldId)
      .where('key', '>', lastKey)
      .orderBy('key')
      .limit(PAGE_ROWS)
      .execute()
    for (const row of page) listed.push(listPublication(row, assetRowOf))
    if (page.length < PAGE_ROWS) return listed
  }
}
