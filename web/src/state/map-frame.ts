import { worldGrid } from '../live/world.ts'
import { nearestParcel, placeAt } from '../map/camera.ts'
import { destination, view } from './explore-state.ts'
import {
  type Frame,
  findBox,
  fittingView,
  nearerView,
  openedView,
  touchesClear,
  uncoveredView,
} from './fitting.ts'
import { cornersOf } from './land-filter.ts'

/** What lies over the map besides the search box and the filters. */
const PANELS = ['.side', '.layer-body']
/** The row of buttons that a panel below the map pushes up: it covers the map as well. */
const BUTTONS = ['.layer-toggle', '.tools']
/** A panel wider than this share of the map lies below it, not beside it. */
const WIDE = 0.8

/** Shows all of some cells, as near as possible. Does nothing without cells. */
export function showCells(cells: Uint32Array): void {
  const grid = worldGrid.peek()
  const box = grid && findBox(cells, grid.bounds)
  const frame = findFrame(PANELS)
  if (box && frame) view.value = fittingView(box, frame)
}

/** Shows all of some cells where none of them is on the free part of the map, or where they are small on it. */
export function approachCells(cells: Uint32Array): void {
  const [grid, frame, shown] = [worldGrid.peek(), findFrame(PANELS), view.peek()]
  const box = grid && findBox(cells, grid.bounds)
  if (box && frame && shown) view.value = nearerView(shown, box, frame)
}

/** {@link showCells} once the panels that open or close with it have been laid out. */
export function showCellsAfterLayout(cells: () => Uint32Array): void {
  // A render is a microtask, so it is done before the next frame.
  requestAnimationFrame(() => showCells(cells()))
}

/**
 * Moves the map out of the way of a panel that has just opened for these cells. What was opened from a list or by search
 * ({@link destination}) lies whole in the free part then; of what was picked on the map only the middle must be free,
 * so that a click moves the map as little as possible.
 */
export function uncover(cells: Uint32Array): void {
  const grid = worldGrid.peek()
  const box = grid && findBox(cells, grid.bounds)
  const opened = destination.peek()
  const picked = view.peek()
  const frame = findFrame(opened ? PANELS : ['.side'])
  destination.value = undefined
  if (!box || !frame) return
  if (opened) view.value = openedView(opened, box, frame)
  else if (picked) view.value = uncoveredView(picked, box, frame)
}

/** {@link uncover} for the selection of a link. A link that has none of it on the map, panels left aside, is shown as it is. */
export function uncoverLinked(cells: Uint32Array): void {
  const [grid, shown, frame] = [worldGrid.peek(), view.peek(), findFrame([])]
  const box = grid && findBox(cells, grid.bounds)
  if (box && shown && frame && touchesClear(shown, box, frame)) uncover(cells)
}

/** The parcels in the part of the map that nothing covers, as filters have an area; undefined without a map. */
export function visibleArea(): ReturnType<typeof cornersOf> | undefined {
  const [frame, shown, grid] = [findFrame(PANELS), view.peek(), worldGrid.peek()]
  if (!frame || !shown || !grid) return undefined
  const { width, height, covered } = frame
  const placeAtSpot = (right: number, down: number) => {
    const place = placeAt(shown, { widthPx: width, heightPx: height }, { xPx: right, yPx: down })
    const { x, y } = nearestParcel(grid.bounds, place)
    return `${x},${y}`
  }
  return cornersOf(
    placeAtSpot(covered.left, covered.top),
    placeAtSpot(width - covered.right, height - covered.bottom),
  )
}

/** Moves the focus to the map. */
export function focusMap(): void {
  findMap()?.querySelector('canvas')?.focus()
}

export function isInMap(element: Element | null): boolean {
  return element !== null && findMap()?.contains(element) === true
}

/** Whether a panel lies below the map instead of beside it. */
export function isPanelBelow(): boolean {
  const [map, panel] = [findMap()?.getBoundingClientRect(), edgesOf('.side')]
  return map !== undefined && panel !== undefined && isBelow(panel, map)
}

function isBelow(panel: DOMRect, map: DOMRect): boolean {
  return panel.width > map.width * WIDE
}

function findFrame(panels: readonly string[]): Frame | undefined {
  const map = findMap()?.getBoundingClientRect()
  if (!map) return undefined
  const covered = { left: 0, right: 0, top: edgesOf('.filter-line')?.bottom ?? map.top, bottom: 0 }
  covered.top -= map.top
  for (const panel of panels) {
    const edges = edgesOf(panel)
    if (!edges) continue
    const [left, right] = [edges.left - map.left, map.right - edges.right]
    if (isBelow(edges, map)) covered.bottom = Math.max(covered.bottom, map.bottom - topOf(panel, edges))
    else if (left < right) covered.left = Math.max(covered.left, left + edges.width)
    else covered.right = Math.max(covered.right, right + edges.width)
  }
  return { width: map.width, height: map.height, covered }
}

/** Where a panel below the map begins: with the buttons that stand right above it, if it pushes them up. */
function topOf(panel: string, { top }: DOMRect): number {
  if (panel !== '.side') return top
  const buttons = BUTTONS.flatMap((selector) => edgesOf(selector) ?? [])
  return Math.min(top, ...buttons.map((edges) => edges.top))
}

/** The edges of an element; undefined if it is missing or hidden. */
function edgesOf(selector: string): DOMRect | undefined {
  const edges = document.querySelector(selector)?.getBoundingClientRect()
  return edges && edges.width > 0 ? edges : undefined
}

function findMap(): HTMLElement | null {
  return document.querySelector<HTMLElement>('.explore-map')
}
