import type { Area } from '@landpass/client/grid'
import type { BidTable } from '../../land/records/bid.ts'
import type { EstateTable } from '../../land/records/estate.ts'
import type { ParcelTable } from '../../land/records/parcel.ts'
import type { PublicationTable } from '../../land/records/publication.ts'
import type { UnlistedOffer } from '../../land/records/unlisted-offer.ts'
import { withValues } from '../parts/columns.ts'
import type { EstateParts, ParcelParts, PublicationParts, SaleParts, StateParts } from '../parts/parts.ts'
import { parcelKey, patchSales, saleOfBid, saleOfParcel, saleOfPublication } from '../parts/sales.ts'
import { cellsAround, tileCell, tileSource } from '../parts/tile-cells.ts'
import { patchUnlisted } from '../parts/unlisted-offers.ts'
import { assetRows } from './asset-rows.ts'
import { type EstateRows, estateRowsAfter } from './estate-rows.ts'
import { patchEstates } from './patch-estates.ts'
import { patchParcels } from './patch-parcels.ts'
import { type OfferedPublications, patchPublications, renumberAssets } from './patch-publications.ts'
import { publicationFacts } from './publication-facts.ts'

/** What has no row any more. The held state need not have it. */
export interface RemovedAssets {
  readonly estates: readonly string[]
  /** Their keys. */
  readonly publications: readonly number[]
}

/** What has changed up to a later revision: the rows of the tables at that revision. */
export interface StateChanges {
  readonly revision: number
  readonly changedAtMs: number
  readonly block: StateParts['block']
  readonly parcels: readonly ParcelTable[]
  /** Includes all estates that gained, lost or reordered parcels. */
  readonly estates: readonly EstateTable[]
  readonly publications: readonly PublicationTable[]
  /** Bids that were accepted, or whose acceptance was undone: their keys, and the rows of those that have one. */
  readonly changedBids: readonly number[]
  readonly bids: readonly BidTable[]
  /** Open offers of the parcels and estates that are named here, which are no publications. */
  readonly unlisted: readonly UnlistedOffer[]
  readonly removed: RemovedAssets
  /** The new `data` of `/districts`; undefined where it has not changed. */
  readonly districtList: Uint8Array | undefined
}

/**
 * Makes the state of a later revision from an earlier one. All answers are equal to those of a state that is built from
 * the tables. Unchanged parts are shared; the earlier state is not modified, because running requests may still use it.
 */
export function patchState(held: StateParts, changes: StateChanges): StateParts {
  const { bounds } = held
  const { revision, changedAtMs, block, removed } = changes
  const rows = estateRowsAfter(held.estates.ids, {
    added: changes.estates.map(({ id }) => id),
    removed: removed.estates,
  })
  const { parcels, redrawn } = patchParcels(held.parcels, changes.parcels, {
    bounds,
    districtIds: held.districts.ids,
    estateIds: held.estates.ids,
    estates: rows,
  })
  const estates = patchEstates(held.estates, changes.estates, rows, parcels)
  const assets = { bounds, parcels, estates, rows }
  const publications = patchOffered(held.publications, changes, assets)
  const { districtList: listJson = held.districts.listJson } = changes
  const next: StateParts = {
    ...held,
    revision,
    changedAtMs,
    block,
    parcels: { ...parcels, offers: { first: publications.firstOfParcel } },
    estates: { ...estates, offers: { first: publications.firstOfEstate } },
    publications: publications.parts,
    sales: salesAfter(held.sales, changes),
    districts: { ...held.districts, listJson },
    unlisted: patchUnlisted(
      held.unlisted,
      { parcels: changes.parcels, estates: [...changes.estates.map(({ id }) => id), ...removed.estates] },
      changes.unlisted,
    ),
  }
  return { ...next, cells: patchCells(next, redrawn) }
}

function salesAfter(
  held: SaleParts,
  { parcels, publications, bids, changedBids, removed }: StateChanges,
): SaleParts {
  const sales = [
    ...publications.filter(({ status }) => status === 'sold').map(saleOfPublication),
    ...bids.filter(({ status }) => status === 'sold').map(saleOfBid),
    ...parcels.flatMap((parcel) => saleOfParcel(parcel) ?? []),
  ]
  const changedPublications = publications.map(({ key }) => key)
  return patchSales(held, sales, {
    publication: [...changedPublications, ...removed.publications],
    bid: changedBids,
    parcel: parcels.map(parcelKey),
  })
}

interface Assets {
  readonly bounds: Area
  readonly parcels: ParcelParts
  readonly estates: EstateParts
  readonly rows: EstateRows
}

function patchOffered(
  held: PublicationParts,
  { publications: table, removed }: Pick<StateChanges, 'publications' | 'removed'>,
  { bounds, parcels, estates, rows }: Assets,
): OfferedPublications {
  const assetRowOf = assetRows(bounds, parcels, rows.ids)
  const offered = {
    parts: rows.areMoved ? renumberAssets(held, rows.newRowOf) : held,
    firstOfParcel: parcels.offers.first,
    firstOfEstate: estates.offers.first,
  }
  return patchPublications(
    offered,
    table.map((row) => publicationFacts(row, assetRowOf)),
    removed.publications,
  )
}

/** Computes the cells of changed parcels again, and those of their neighbours, whose joins may have changed. */
function patchCells(next: StateParts, redrawn: readonly number[]): Uint8Array {
  if (redrawn.length === 0) return next.cells
  const source = tileSource(next)
  const { x, y } = next.parcels
  const cells = new Map<number, number>()
  for (const row of redrawn) {
    for (const cell of cellsAround(next.bounds, { x: x[row]!, y: y[row]! }))
      cells.set(cell, tileCell(source, cell))
  }
  return withValues(next.cells, cells)
}
