import { type Coord, cellOf } from '@landpass/client/grid'
import type { ChangedAssets } from '../../land/changes/change-journal.ts'
import { cellsAround } from '../parts/tile-cells.ts'
import { resoldAssets } from './resold-assets.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/**
 * The numbers, ascending, of all cells that are other now than in an earlier state of the same world.
 * Some of them may be as they were: what changed and changed back, and neighbours that join as before.
 *
 * @param assets what changed between the two revisions
 */
export function changedCells(now: StateAt, since: StateVersion, assets: ChangedAssets): Uint32Array {
  const { state } = now
  const { bounds, parcels, cells } = state.parts
  const isChanged = new Uint8Array(cells.length)
  const mark = (coord: Coord) => {
    isChanged[cellOf(bounds, coord)] = 1
  }
  const markAround = (coord: Coord) => {
    for (const cell of cellsAround(bounds, coord)) isChanged[cell] = 1
  }
  const coordOf = (row: number) => ({ x: parcels.x[row]!, y: parcels.y[row]! })

  // A parcel that left an estate or a district also parted from its neighbours, which stayed where they were.
  for (const coord of assets.parcels) if (cellOf(bounds, coord) >= 0) markAround(coord)
  const resold = resoldAssets(now, since, new Set(assets.publications))
  for (const row of resold.parcels) mark(coordOf(row))
  const estates = new Set(assets.estates.map((id) => state.estateRow(id)))
  if (estates.size + resold.estates.size > 0) {
    for (let row = 0; row < parcels.estate.length; row++) {
      const estate = parcels.estate[row]!
      if (estate < 0) continue
      if (estates.has(estate)) markAround(coordOf(row))
      else if (resold.estates.has(estate)) mark(coordOf(row))
    }
  }
  return numbersOf(isChanged)
}

function numbersOf(marks: Uint8Array): Uint32Array {
  const numbers: number[] = []
  for (let number = marks.indexOf(1); number >= 0; number = marks.indexOf(1, number + 1)) numbers.push(number)
  return Uint32Array.from(numbers)
}
