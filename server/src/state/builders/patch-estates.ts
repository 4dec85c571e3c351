import { operatorsOf } from '../../land/records/assets.ts'
import type { EstateTable } from '../../land/records/estate.ts'
import { pagedColumn, patchPages, valueAt, withValues } from '../parts/columns.ts'
import { membersOf } from '../parts/estate-members.ts'
import { JsonBufferWriter, patchJsonBuffer, pieceOf } from '../parts/json-buffer.ts'
import { patchAddresses, patchOwnership, withMovedRows } from '../parts/owner-index.ts'
import type { EstateParts, ParcelParts } from '../parts/parts.ts'
import { buildRents, findRent, patchRents, rentOf } from '../parts/rents.ts'
import { estatePiece, updatedAtS } from './build-estates.ts'
import type { EstateRows } from './estate-rows.ts'

/** Replaces and adds estates, given by their rows of the table, and removes those that have no row any more. */
export function patchEstates(
  held: EstateParts,
  table: readonly EstateTable[],
  rows: EstateRows,
  parcels: ParcelParts,
): EstateParts {
  const placed = rows.ids === held.ids ? held : moveEstates(held, rows)
  if (table.length === 0) return placed
  return replaceEstates(placed, new Map(table.map((estate) => [rows.rowOf(estate.id), estate])), parcels)
}

/** Replaces estates, by their rows. */
function replaceEstates(
  held: EstateParts,
  changed: ReadonlyMap<number, EstateTable>,
  parcels: ParcelParts,
): EstateParts {
  const members = membersOf(parcels, changed.keys())
  const of = <Value>(read: (estate: EstateTable, row: number) => Value) =>
    new Map([...changed].map(([row, estate]) => [row, read(estate, row)]))
  return {
    ...held,
    json: patchJsonBuffer(
      held.json,
      of((estate, row) => estatePiece(estate, members.get(row)!)),
    ),
    size: withValues(
      held.size,
      of((_, row) => members.get(row)!.length),
    ),
    names: withValues(
      held.names,
      of(({ name }) => name || undefined),
    ),
    updatedAtS: patchPages(held.updatedAtS, of(updatedAtS)),
    ...patchOwnership(
      held,
      of(({ owner }) => owner),
      (a, b) => a - b,
    ),
    operators: patchAddresses(held.operators, of(operatorsOf)),
    rents: patchRents(held.rents, of(rentOf)),
  }
}

/** Gives estates their new rows. Those of new estates are empty. All columns and the JSON of all estates are written again. */
function moveEstates(held: EstateParts, rows: EstateRows): EstateParts {
  const { sourceOf, newRowOf } = rows
  const json = new JsonBufferWriter()
  for (const source of sourceOf) json.add(source < 0 ? '' : pieceOf(held.json, source))
  const gone = [...newRowOf.keys()].filter((row) => newRowOf[row]! < 0)
  const { owners, owner } = patchOwnership(held, new Map(gone.map((row) => [row, null])), (a, b) => a - b)
  const operators = patchAddresses(held.operators, new Map(gone.map((row) => [row, []])))
  return {
    json: json.finish(),
    ids: rows.ids,
    size: Uint32Array.from(sourceOf, (source) => held.size[source] ?? 0),
    names: Array.from(sourceOf, (source) => held.names[source]),
    updatedAtS: pagedColumn(Uint32Array.from(sourceOf, (source) => valueAt(held.updatedAtS, source) ?? 0)),
    owners: withMovedRows(owners, newRowOf),
    owner: pagedColumn(Int32Array.from(sourceOf, (source) => valueAt(owner, source) ?? -1)),
    operators: withMovedRows(operators, newRowOf),
    offers: { first: Int32Array.from(sourceOf, (source) => held.offers.first[source] ?? -1) },
    rents: buildRents(Array.from(sourceOf, (source) => findRent(held.rents, source))),
  }
}
