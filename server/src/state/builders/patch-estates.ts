import { operatorsOf } from '../../land/records/assets.ts'
import type { EstateTable } from '../../land/records/estate.ts'
import { membersOf } from '../parts/estate-members.ts'
import { JsonBufferWriter, pieceOf } from '../parts/json-buffer.ts'
import { patchAddresses, patchOwnership } from '../parts/owner-index.ts'
import type { EstateParts, OwnerIndex, ParcelParts } from '../parts/parts.ts'
import { buildRents, findRent, rentOf } from '../parts/rents.ts'
import { estatePiece, updatedAtS } from './build-estates.ts'
import type { EstateRows } from './estate-rows.ts'

/**
 * Replaces and adds estates, given by their rows of the table, and removes those that have no row any more. All columns and the JSON of all estates are written
 * again: there are few estates.
 */
export function patchEstates(
  held: EstateParts,
  table: readonly EstateTable[],
  rows: EstateRows,
  parcels: ParcelParts,
): EstateParts {
  if (table.length === 0 && rows.ids.length === held.ids.length) return held
  const changed = new Map(table.map((estate) => [rows.rowOf(estate.id), estate]))
  const members = membersOf(parcels, changed.keys())
  const json = new JsonBufferWriter()
  for (const [row, source] of rows.sourceOf.entries()) {
    const estate = changed.get(row)
    json.add(estate ? estatePiece(estate, members.get(row)!) : pieceOf(held.json, source))
  }
  const each = <Value>(read: (estate: EstateTable, row: number) => Value, old: ArrayLike<Value>) =>
    Array.from(rows.sourceOf, (source, row) => {
      const estate = changed.get(row)
      return estate ? read(estate, row) : old[source]!
    })
  const ownerOf = new Map([...changed].map(([row, { owner }]) => [row, owner]))
  const operatorsOfRow = new Map([...changed].map(([row, estate]) => [row, operatorsOf(estate)]))
  return {
    json: json.finish(),
    ids: rows.ids,
    size: Uint32Array.from(each((_, row) => members.get(row)!.length, held.size)),
    names: each(({ name }) => name || undefined, held.names),
    updatedAtS: Uint32Array.from(each(updatedAtS, held.updatedAtS)),
    ...patchOwnership(movedOwnership(held, rows), ownerOf, (a, b) => a - b),
    operators: patchAddresses(movedRows(operatorsWithoutGone(held, rows), rows), operatorsOfRow),
    offers: { first: Int32Array.from(rows.sourceOf, (source) => held.offers.first[source] ?? -1) },
    rents: buildRents(
      Array.from(rows.sourceOf, (source, row) => {
        const estate = changed.get(row)
        return estate ? rentOf(estate) : findRent(held.rents, source)
      }),
    ),
  }
}

function movedOwnership(held: EstateParts, rows: EstateRows) {
  const nobodys = new Map(goneRows(rows).map((row) => [row, null]))
  const { owners, owner } = patchOwnership(held, nobodys, (a, b) => a - b)
  return {
    owners: movedRows(owners, rows),
    owner: Int32Array.from(rows.sourceOf, (source) => owner[source] ?? -1),
  }
}

function operatorsWithoutGone({ operators }: EstateParts, rows: EstateRows): OwnerIndex {
  const gone = goneRows(rows)
  return gone.length === 0 ? operators : patchAddresses(operators, new Map(gone.map((row) => [row, []])))
}

/** The old rows of the estates that were removed. */
function goneRows({ newRowOf }: EstateRows): number[] {
  return [...newRowOf.keys()].filter((row) => newRowOf[row]! < 0)
}

function movedRows(index: OwnerIndex, { newRowOf }: EstateRows): OwnerIndex {
  return { ...index, rows: index.rows.map((row) => newRowOf[row]!) }
}
