import type { Db } from '../../db/engine.ts'
import { publicationsAfter } from '../../land/queries/publication-queries.ts'
import { NO_PUBLICATIONS, type OfferedPublications, patchPublications } from './patch-publications.ts'
import { type AssetRowOf, type PublicationFacts, publicationFacts } from './publication-facts.ts'

/** The numbers of parcels and estates, and how to find their rows. */
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
): Promise<PublicationFacts[]> {
  const publications: PublicationFacts[] = []
  for (let lastKey = -1; ; lastKey = publications.at(-1)!.key) {
    const page = await publicationsAfter(db, worldId, lastKey, PAGE_ROWS)
    for (const row of page) publications.push(publicationFacts(row, assetRowOf))
    if (page.length < PAGE_ROWS) return publications
  }
}
