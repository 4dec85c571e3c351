import { worldGrid } from '../live/world.ts'
import { destination, view } from './explore-state.ts'
import { type Frame, findBox, fittingView, uncoveredView } from './fitting.ts'

/** What lies over the map besides the search box. */
const PANELS = ['.side', '.layer-body']
/** What is wider than this share of the map leaves nothing beside it. */
const WIDE = 0.8

/** Shows all of some cells, as near as that allows. Nothing happens for no cells. */
export function showCells(cells: Uint32Array): void {
  const grid = worldGrid.peek()
  const box = grid && findBox(cells, grid.bounds)
  const frame = findFrame(PANELS)
  if (box && frame) view.value = fittingView(box, frame)
}

/** Moves the map as far as the panel of what is selected covers it. */
export function uncover(cells: Uint32Array): void {
  const grid = worldGrid.peek()
  const box = grid && findBox(cells, grid.bounds)
  const frame = findFrame(destination.peek() ? PANELS : ['.side'])
  const wanted = destination.peek() ?? view.peek()
  destination.value = undefined
  if (box && frame && wanted) view.value = uncoveredView(wanted, box, frame)
}

/** Gives the map the keyboard. */
export function focusMap(): void {
  findMap()?.querySelector('canvas')?.focus()
}

export function isInMap(element: Element | null): boolean {
  return element !== null && findMap()?.contains(element) === true
}

/** Whether a panel is open that leaves nothing of the map beside it. */
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
  const covered = { left: 0, right: 0, top: edgesOf('.search')?.bottom ?? map.top, bottom: 0 }
  covered.top -= map.top
  for (const panel of panels) {
    const edges = edgesOf(panel)
    if (!edges) continue
    const [left, right] = [edges.left - map.left, map.right - edges.right]
    if (isBelow(edges, map)) covered.bottom = Math.max(covered.bottom, map.bottom - edges.top)
    else if (left < right) covered.left = Math.max(covered.left, left + edges.width)
    else covered.right = Math.max(covered.right, right + edges.width)
  }
  return { width: map.width, height: map.height, covered }
}

/** Undefined for what is not there or not shown. */
function edgesOf(selector: string): DOMRect | undefined {
  const edges = document.querySelector(selector)?.getBoundingClientRect()
  return edges && edges.width > 0 ? edges : undefined
}

function findMap(): HTMLElement | null {
  return document.querySelector<HTMLElement>('.explore-map')
}
