import type { AssetType } from '@landpass/client'
import { batch, effect, untracked } from '@preact/signals'
import { worldGrid } from '../live/world.ts'
import {
  chosenDistrict,
  destination,
  FIRST_PAGE,
  frontPanel,
  landFilter,
  layer,
  mine,
  openList,
  selection,
  showSelected,
  view,
} from './explore-state.ts'
import { foundLand, isOfEarlierFilters } from './found-land.ts'
import type { LandFilter } from './land-filter.ts'
import { cellsOfEstate, cellsOfRuns } from './layer-inks.ts'
import { chosenCells, mineCells } from './layers.ts'
import { approachCells, showCells, showCellsAfterLayout } from './map-frame.ts'
import { selectedCells } from './selected-cells.ts'

/** Actions that move the map. Each is one step of the browser's history. */

/** A result of the search. */
export interface ShownResult {
  readonly type: 'parcel' | 'estate' | 'district' | 'address' | 'plaza'
  readonly id: string
  /** Null for an address that owns nothing. */
  readonly x: number | null
  readonly y: number | null
}

export function showResult({ type, id, x, y }: ShownResult): void {
  if (type === 'estate') showEstate(id)
  else if (type === 'district') showDistrict(id)
  else if (type === 'address') showAddress(id)
  else if (x !== null && y !== null) showSelected({ type: 'parcel', x, y }, { x, y })
}

/** @param id `x,y` of a parcel, the number of an estate */
export function showAsset(type: AssetType, id: string): void {
  const [x = 0, y = 0] = id.split(',').map(Number)
  if (type === 'estate') showEstate(id)
  else showSelected({ type, x, y }, { x, y })
}

export function showEstate(id: string): void {
  const grid = worldGrid.peek()
  batch(() => {
    selection.value = { type: 'estate', id }
    if (grid) showCells(cellsOfEstate(grid, id))
    destination.value = view.value
  })
}

/** Opens the list of the land that the filters keep. */
export function showFound(): void {
  openList.value = { name: 'land', ...FIRST_PAGE }
}

/** Opens the sales of the land that the filters keep. */
export function showSales(): void {
  openList.value = { name: 'sales', ...FIRST_PAGE }
}

/** Moves the map to the selection of a link that has no map position. */
export function showLinked(): void {
  const grid = worldGrid.peek()
  if (grid) showCells(selectedCells(grid, selection.peek()))
}

/**
 * Moves the map to the land that new filters keep, unless it is in sight. An area is one that the reader looks at.
 *
 * @param answered the filters for which the map is where it should be
 */
export function followFound(answered: LandFilter | undefined): () => void {
  let last = answered
  return effect(() => {
    const found = foundLand.value
    const filter = landFilter.peek()
    if (isOfEarlierFilters.value || !found || !worldGrid.value || filter === last) return
    last = filter
    if (filter.nw === undefined) untracked(() => approachCells(cellsOfRuns(found.runs)))
  })
}

/** Highlights a district, and moves the map there once its parcels are loaded. */
export function showDistrict(id: string): void {
  batch(() => {
    selection.value = undefined
    layer.value = 'districts'
    chosenDistrict.value = id
    frontPanel.value = 'asset' // also where the district was chosen before
  })
  const arrive = effect(() => {
    const cells = chosenCells.value
    if (chosenDistrict.value !== id || cells.length > 0) queueMicrotask(() => arrive())
    if (chosenDistrict.value === id) showCellsAfterLayout(() => cells)
  })
}

/** Highlights the land of an address, and opens the list of its parcels. */
function showAddress(address: string): void {
  batch(() => {
    selection.value = undefined
    mine.value = address
    layer.value = 'mine'
    openList.value = { name: 'parcels', address, ...FIRST_PAGE }
  })
  showCellsAfterLayout(() => mineCells.peek())
}
