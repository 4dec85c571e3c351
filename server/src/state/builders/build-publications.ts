import type { Db } from '../../db/engine.ts'
import { salesOfBids } from '../../land/queries/bid-queries.ts'
import { publicationsAfter } from '../../land/queries/publication-queries.ts'
import type { SaleParts } from '../parts/parts.ts'
import { NO_SALES, patchSales, type SaleFacts, saleOfBid, saleOfPublication } from '../parts/sales.ts'
import { NO_PUBLICATIONS, type OfferedPublications, patchPublications } from './patch-publications.ts'
import { type AssetRowOf, type PublicationFacts, publicationFacts } from './publication-facts.ts'

/** The numbers of parcels and estates, and how to find their rows. */
interface Assets {
  readonly parcels: number
  readonly estates: number
  readonly assetRowOf: AssetRowOf
  /** Sales of parcels in an auction. */
  readonly auctions: readonly SaleFacts[]
}

const PAGE_ROWS = 2000

export async function buildPublications(
  db: Db,
  worldId: number,
  { parcels, estates, assetRowOf, auctions }: Assets,
): Promise<OfferedPublications & { readonly sales: SaleParts }> {
  const nothing = {
    parts: NO_PUBLICATIONS,
    firstOfParcel: new Int32Array(parcels).fill(-1),
    firstOfEstate: new Int32Array(estates).fill(-1),
  }
  const { publications, sales } = await readPublications(db, worldId, assetRowOf)
  const ofBids = await readSalesOfBids(db, worldId)
  const all = [...sales, ...ofBids, ...auctions]
  return { ...patchPublications(nothing, publications), sales: patchSales(NO_SALES, all) }
}

async function readPublications(
  db: Db,
  worldId: number,
  assetRowOf: AssetRowOf,
): Promise<{ readonly publications: PublicationFacts[]; readonly sales: SaleFacts[] }> {
  const publications: PublicationFacts[] = []
  const sales: SaleFacts[] = []
  for (let lastKey = -1; ; lastKey = publications.at(-1)!.key) {
    const page = await publicationsAfter(db, worldId, lastKey, PAGE_ROWS)
    for (const row of page) {
      publications.push(publicationFacts(row, assetRowOf))
      if (row.status === 'sold') sales.push(saleOfPublication(row))
    }
    if (page.length < PAGE_ROWS) return { publications, sales }
  }
}

async function readSalesOfBids(db: Db, worldId: number): Promise<SaleFacts[]> {
  const sales: SaleFacts[] = []
  for (let lastKey = -1; ; lastKey = sales.at(-1)!.key) {
    const page = await salesOfBids(db, worldId, lastKey, PAGE_ROWS)
    for (const row of page) sales.push(saleOfBid(row))
    if (page.length < PAGE_ROWS) return sales
  }
}
