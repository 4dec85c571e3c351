import type { Area } from '@landpass/client/grid'
import type { EstateTable } from '../../land/records/estate.ts'
import type { ParcelTable } from '../../land/records/parcel.ts'
import type { PublicationTable } from '../../land/records/publication.ts'
import type { EstateParts, ParcelParts, PublicationParts, StateParts } from '../parts/parts.ts'
import { cellsAround, tileCell, tileSource } from '../parts/tile-cells.ts'
import { assetRows } from './asset-rows.ts'
import { type EstateRows, growEstates } from './estate-rows.ts'
import { listPublication } from './listed-publication.ts'
import { patchEstates } from './patch-estates.ts'
import { patchParcels } from './patch-parcels.ts'
import { type OfferedPublications, patchPublications, renumberAssets } from './patch-publications.ts'

/** What a later revision says of everything that has changed since: rows of the tables as they are now. */
export interface StateChanges {
  readonly revision: number
  readonly changedAtMs: number
  readonly parcels: readonly ParcelTable[]
  /** All estates that gained, lost or moved a parcel are among them. */
  readonly estates: readonly EstateTable[]
  readonly publications: readonly PublicationTable[]
  /** The `data` of `/districts`, where it may be another one. */
  readonly districtList: Uint8Array | undefined
}

/**
 * The state of a later revision, made from that of an earlier one: equal in every answer to one that is built
 * from the tables. What has not changed is shared; the earlier one stays as it is, for readers that still hold it.
 */
export function patchState(held: StateParts, changes: StateChanges): StateParts {
  const { bounds } = held
  const { revision, changedAtMs } = changes
  const rows = growEstates(
    held.estates.ids,
    changes.estates.map(({ id }) => id),
  )
  const { parcels, redrawn } = patchParcels(held.parcels, changes.parcels, {
    bounds,
    districtIds: held.districts.ids,
    estates: rows,
  })
  const estates = patchEstates(held.estates, changes.estates, rows, parcels)
  const assets = { bounds, parcels, estates, rows }
  const publications = patchOffered(held.publications, changes.publications, assets)
  const { districtList: listJson = held.districts.listJson } = changes
  const next: StateParts = {
    ...held,
    revision,
    changedAtMs,
    parcels: { ...parcels, offers: { first: publications.firstOfParcel } },
    estates: { ...estates, offers: { first: publications.firstOfEstate } },
    publications: publications.parts,
    districts: { ...held.districts, listJson },
  }
  return { ...next, cells: patchCells(next, redrawn) }
}

interface Assets {
  readonly bounds: Area
  readonly parcels: ParcelParts
  readonly estates: EstateParts
  readonly rows: EstateRows
}

function patchOffered(
  held: PublicationParts,
  table: readonly PublicationTable[],
  { bounds, parcels, estates, rows }: Assets,
): OfferedPublications {
  const assetRowOf = assetRows(bounds, parcels.rowAt, rows.ids)
  const offered = {
    parts: rows.areMoved ? renumberAssets(held, rows.newRowOf) : held,
    firstOfParcel: parcels.offers.first,
    firstOfEstate: estates.offers.first,
  }
  return patchPublications(
    offered,
    table.map((row) => listPublication(row, assetRowOf)),
  )
}

/** Cells of parcels that belong elsewhere now, and of their neighbours, which join them or no longer do. */
function patchCells(next: StateParts, redrawn: readonly number[]): Uint8Array {
  if (redrawn.length === 0) return next.cells
  const source = tileSource(next)
  const { x, y } = next.parcels
  const cells = next.cells.slice()
  for (const row of redrawn) {
    for (const cell of cellsAround(next.bounds, { x: x[row]!, y: y[row]! }))
      cells[cell] = tileCell(source, cell)
  }
  return cells
}
