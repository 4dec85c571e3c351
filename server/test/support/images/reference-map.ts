import type { MapState } from '../../../src/map/map-state.ts'
import { INKS, PALETTES } from '../../../src/map/palette.ts'
import type { View } from '../../../src/map/view.ts'
import { type Picture, paint } from './png.ts'

/**
 * What a map looks like, computed for one pixel at a time and as simply as possible: each pixel asks what lies under it and
 * around it, and nothing is kept from one to the next. Slow, and shares nothing with the renderer but the colours.
 */
export function referenceMap(state: MapState, view: View): Picture {
  const inkAt = view.sizePx >= 5 ? gappedInk(state, view) : plainInk(state, view)
  return paint(view.widthPx, view.heightPx, PALETTES[view.theme], (px, py) => inkAt(px, py))
}

type InkAt = (px: number, py: number) => number

const KIND_BITS = 7
const LEFT = 8
const TOP = 16
const TOP_LEFT = 32

function gappedInk(state: MapState, view: View): InkAt {
  const { sizePx } = view
  const gapPx = sizePx <= 14 ? 1 : sizePx <= 30 ? 2 : 3
  const land = landOf(state)
  const isSelected = selectionOf(view)

  /** The parcel under a pixel, and in which of its gaps the pixel is. */
  const spot = (px: number, py: number) => {
    const across = parcelAt(view.originXPx, sizePx, px)
    const down = parcelAt(view.originYPx, sizePx, py)
    return {
      x: across.n,
      y: -down.n,
      inWestGap: px - across.startPx < gapPx,
      inNorthGap: py - down.startPx < gapPx,
    }
  }

  /** A gap belongs to the selection where all parcels that meet in it are selected. */
  const isInSelection = (px: number, py: number): boolean => {
    const { x, y, inWestGap, inNorthGap } = spot(px, py)
    return (
      isSelected(x, y) &&
      (!inWestGap || isSelected(x - 1, y)) &&
      (!inNorthGap || isSelected(x, y + 1)) &&
      (!(inWestGap && inNorthGap) || isSelected(x - 1, y + 1))
    )
  }

  const isNearSelection = (px: number, py: number): boolean => {
    const reachPx = gapPx + 1
    for (let dx = -reachPx; dx <= reachPx; dx++) {
      for (let dy = -reachPx; dy <= reachPx; dy++) if (isInSelection(px + dx, py + dy)) return true
    }
    return false
  }

  return (px, py) => {
    const { x, y, inWestGap, inNorthGap } = spot(px, py)
    const { ink, joins } = land(x, y)
    const needed = inWestGap && inNorthGap ? LEFT | TOP | TOP_LEFT : inWestGap ? LEFT : inNorthGap ? TOP : 0
    const isFilled = (joins & needed) === needed
    if (view.selected.length > 0) {
      if (isInSelection(px, py)) return isFilled ? INKS.selected : INKS.seam
      if (isNearSelection(px, py)) return INKS.outline
    }
    return isFilled ? ink : INKS.outside
  }
}

/** The column, or row from the north, under a pixel, and the pixel where it begins: every edge is rounded for itself. */
function parcelAt(originPx: number, sizePx: number, px: number): { n: number; startPx: number } {
  let n = Math.round((px - originPx) / sizePx) + 1
  while (Math.round(originPx + n * sizePx) > px) n--
  return { n, startPx: Math.round(originPx + n * sizePx) }
}

/** Without gaps: each pixel shows the parcel, or the parcels, under it. */
function plainInk(state: MapState, view: View): InkAt {
  const { sizePx, originXPx, originYPx } = view
  const land = landOf(state)
  const isSelected = selectionOf(view)

  const parcelsUnder = (px: number, py: number) => {
    if (sizePx >= 1) {
      return [{ x: Math.floor((px - originXPx) / sizePx), y: -Math.floor((py - originYPx) / sizePx) }]
    }
    // Parcel x covers from x * sizePx on, y from -y * sizePx on: those that begin within the pixel.
    const perPixel = 1 / sizePx
    const places = []
    for (let i = 0; i < perPixel; i++) {
      for (let k = 0; k < perPixel; k++) {
        places.push({ x: (px - originXPx) * perPixel + i, y: (originYPx - py) * perPixel - k })
      }
    }
    return places
  }
  const isInSelection = (px: number, py: number) => parcelsUnder(px, py).some(({ x, y }) => isSelected(x, y))

  return (px, py) => {
    if (view.selected.length > 0) {
      if (isInSelection(px, py)) return INKS.selected
      for (const dx of [-1, 0, 1]) {
        for (const dy of [-1, 0, 1]) if (isInSelection(px + dx, py + dy)) return INKS.outline
      }
    }
    return heaviest(parcelsUnder(px, py).map(({ x, y }) => land(x, y).ink))
  }
}

/** Roads, plazas and what is on sale count twice; of equally heavy inks the one with the higher number wins. */
function heaviest(inks: readonly number[]): number {
  const doubled: readonly number[] = [INKS.road, INKS.plaza, INKS.onSale]
  const weightOf = (ink: number) => inks.filter((one) => one === ink).length * (doubled.includes(ink) ? 2 : 1)
  return inks.reduce((best, ink) => {
    const difference = weightOf(ink) - weightOf(best)
    return difference > 0 || (difference === 0 && ink > best) ? ink : best
  })
}

function landOf({ bounds, cells, rowAt, offers }: MapState) {
  return (x: number, y: number): { ink: number; joins: number } => {
    if (x < bounds.minX || x > bounds.maxX || y < bounds.minY || y > bounds.maxY) {
      return { ink: INKS.outside, joins: 0 }
    }
    const at = (x - bounds.minX) * (bounds.maxY - bounds.minY + 1) + (bounds.maxY - y)
    const isOnSale = offers !== undefined && rowAt[at]! >= 0 && offers[rowAt[at]!]! >= 0
    return { ink: isOnSale ? INKS.onSale : cells[at]! & KIND_BITS, joins: cells[at]! & ~KIND_BITS }
  }
}

function selectionOf({ selected }: View) {
  const places = new Set(selected.map(({ x, y }) => `${x},${y}`))
  return (x: number, y: number): boolean => places.has(`${x},${y}`)
}
