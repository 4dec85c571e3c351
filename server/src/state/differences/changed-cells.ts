import { type Coord, cellOf } from '@landpass/client/grid'
import type { ChangedAssets } from '../../land/changes/change-journal.ts'
import { cellsAround } from '../parts/tile-cells.ts'
import { assetsWithChangedOffers } from './changed-offers.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/**
 * The numbers, ascending, of all cells that differ from an earlier state of the same world. Some of them may be equal:
 * cells that changed and changed back, and neighbours whose joins did not change.
 *
 * @param assets what changed between the two revisions
 */
export function changedCells(now: StateAt, since: StateVersion, assets: ChangedAssets): Uint32Array {
  const { state } = now
  const { bounds, parcels, cells } = state.parts
  const isChanged = new Uint8Array(cells.length)
  const mark = (coord: Coord) => {
    const cell = cellOf(bounds, coord)
    if (cell >= 0) isChanged[cell] = 1
  }
  const markAround = (coord: Coord) => {
    for (const cell of cellsAround(bounds, coord)) isChanged[cell] = 1
  }
  const coordOf = (row: number) => ({ x: parcels.x[row]!, y: parcels.y[row]! })

  // When a parcel leaves an estate or a district, the joins of its neighbours change too.
  for (const coord of assets.parcels) markAround(coord)
  const withChangedOffers = assetsWithChangedOffers(now, since, new Set(assets.publications))
  for (const row of withChangedOffers.parcels) mark(coordOf(row))
  const estates = new Set(assets.estates.map((id) => state.estateRow(id)))
  // An estate that was removed may leave parcels behind that still name it.
  const removed = new Set(assets.estates.filter((id) => state.estateRow(id) < 0))
  for (const { row, estateId } of parcels.orphans) if (removed.has(estateId)) markAround(coordOf(row))
  if (estates.size + withChangedOffers.estates.size > 0) {
    for (let row = 0; row < parcels.estate.length; row++) {
      const estate = parcels.estate[row]!
      if (estate < 0) continue
      if (estates.has(estate)) markAround(coordOf(row))
      else if (withChangedOffers.estates.has(estate)) mark(coordOf(row))
    }
  }
  return numbersOf(isChanged)
}

function numbersOf(marks: Uint8Array): Uint32Array {
  const numbers: number[] = []
  for (let number = marks.indexOf(1); number >= 0; number = marks.indexOf(1, number + 1)) numbers.push(number)
  return Uint32Array.from(numbers)
}
