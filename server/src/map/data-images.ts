import { encodeRgba } from '../image/rgba-png.ts'
import { JOINS_LEFT, JOINS_TOP, JOINS_TOP_LEFT, KIND_MASK, KINDS } from '../state/parts/tile-cells.ts'
import type { MapState } from './map-state.ts'

/**
 * Images whose colours are data. Each parcel is one pixel: x,y is that of column x + 256 and row 256 - y. A pixel without
 * a parcel is transparent black.
 */

const SIDE_PX = 512
const MIDDLE_PX = SIDE_PX / 2

type Land = Pick<MapState, 'bounds' | 'cells' | 'rowAt'>

/** Red: bits of the neighbours that a parcel joins. */
const TOP_BIT = 8
const LEFT_BIT = 16
const TOP_LEFT_BIT = 32
/** Green, by kind; 0 for all others. */
const GREEN: Readonly<Record<number, number>> = {
  [KINDS.district]: 32,
  [KINDS.road]: 64,
  [KINDS.owned]: 128,
}

/** Draws the kind of each parcel, and which neighbours it joins, as a PNG file. */
export function drawMinimap(land: Land): Buffer {
  return dataImage(land, (cell, set) => {
    const bits = land.cells[cell]!
    const joins =
      (bits & JOINS_TOP ? TOP_BIT : 0) |
      (bits & JOINS_LEFT ? LEFT_BIT : 0) |
      (bits & JOINS_TOP_LEFT ? TOP_LEFT_BIT : 0)
    set(joins, GREEN[bits & KIND_MASK] ?? 0, 0)
  })
}

/**
 * Draws the number of the estate of each parcel, in red (highest bits), green and blue; 0 for none. A PNG file. Estates are numbered from 1
 * on, by ascending id.
 *
 * @param estate for each row of parcels the row of its estate, or -1; rows of estates are sorted by id
 */
export function drawEstateMap(land: Land, estate: Int32Array): Buffer {
  return dataImage(land, (cell, set) => {
    const number = estate[land.rowAt[cell]!]! + 1
    set((number >> 16) & 255, (number >> 8) & 255, number & 255)
  })
}

type SetPixel = (red: number, green: number, blue: number) => void

/** @param paint called for each parcel that has a pixel */
function dataImage({ bounds, rowAt }: Land, paint: (cell: number, set: SetPixel) => void): Buffer {
  const pixels = new Uint8Array(4 * SIDE_PX * SIDE_PX)
  let at = 0
  const set: SetPixel = (red, green, blue) => {
    pixels[at] = red
    pixels[at + 1] = green
    pixels[at + 2] = blue
    pixels[at + 3] = 255
  }
  const height = bounds.maxY - bounds.minY + 1
  const toX = Math.min(bounds.maxX, SIDE_PX - 1 - MIDDLE_PX)
  const maxY = Math.min(bounds.maxY, MIDDLE_PX)
  const minY = Math.max(bounds.minY, MIDDLE_PX - SIDE_PX + 1)
  for (let x = Math.max(bounds.minX, -MIDDLE_PX); x <= toX; x++) {
    for (let y = minY; y <= maxY; y++) {
      const cell = (x - bounds.minX) * height + bounds.maxY - y
      if (rowAt[cell]! < 0) continue
      at = 4 * ((MIDDLE_PX - y) * SIDE_PX + x + MIDDLE_PX)
      paint(cell, set)
    }
  }
  return encodeRgba({ widthPx: SIDE_PX, heightPx: SIDE_PX, pixels })
}
