import type { Coord } from '@landpass/client/grid'
import type { Grid } from './grid.ts'

/** Sixteen directions of the compass, in thousandths: a table, because sines differ between machines. */
export const DIRECTIONS: readonly Coord[] = [
  { x: 1000, y: 0 },
  { x: 924, y: 383 },
  { x: 707, y: 707 },
  { x: 383, y: 924 },
  { x: 0, y: 1000 },
  { x: -383, y: 924 },
  { x: -707, y: 707 },
  { x: -924, y: 383 },
  { x: -1000, y: 0 },
  { x: -924, y: -383 },
  { x: -707, y: -707 },
  { x: -383, y: -924 },
  { x: 0, y: -1000 },
  { x: 383, y: -924 },
  { x: 707, y: -707 },
  { x: 924, y: -383 },
]

/** The place at a distance from another one, in one of the sixteen directions. */
export function placeAt(from: Coord, direction: number, distance: number): Coord {
  const { x, y } = DIRECTIONS[direction % DIRECTIONS.length]!
  return { x: from.x + Math.trunc((x * distance) / 1000), y: from.y + Math.trunc((y * distance) / 1000) }
}

/** The places of a line between two others, each beside the next: no step goes over a corner. */
export function line(from: Coord, to: Coord): Coord[] {
  const dx = Math.abs(to.x - from.x)
  const dy = Math.abs(to.y - from.y)
  const stepX = to.x > from.x ? 1 : -1
  const stepY = to.y > from.y ? 1 : -1
  const places = [{ x: from.x, y: from.y }]
  let { x, y } = from
  for (let i = 0, j = 0; i < dx || j < dy; ) {
    // Steps along the axis on which the smaller part of the way is done.
    if ((1 + 2 * i) * dy < (1 + 2 * j) * dx) {
      x += stepX
      i++
    } else {
      y += stepY
      j++
    }
    places.push({ x, y })
  }
  return places
}

/** The places of a line through several others. */
export function polyline(corners: readonly Coord[]): Coord[] {
  return corners.flatMap((corner, at) => (at === 0 ? [] : line(corners[at - 1]!, corner)))
}

/** The same path with its corners cut off twice, which makes a smooth curve. */
export function rounded(corners: readonly Coord[]): Coord[] {
  let path = [...corners]
  for (let time = 0; time < 2; time++) {
    const ends = [path[0]!, path.at(-1)!] as const
    const cut = path.flatMap((from, at) => {
      const to = path[at + 1]
      return to ? [between(from, to, 1), between(from, to, 3)] : []
    })
    path = [ends[0], ...cut, ends[1]]
  }
  return path
}

function between(from: Coord, to: Coord, quarters: number): Coord {
  return {
    x: from.x + Math.trunc(((to.x - from.x) * quarters) / 4),
    y: from.y + Math.trunc(((to.y - from.y) * quarters) / 4),
  }
}

export type Shape = 'disc' | 'square' | 'diamond'

/** The cells of a shape around a place, without those outside the world. */
export function stamp(grid: Grid, { x, y }: Coord, radius: number, shape: Shape): number[] {
  const cells: number[] = []
  for (let dx = -radius; dx <= radius; dx++) {
    for (let dy = -radius; dy <= radius; dy++) {
      if (isInShape(shape, radius, dx, dy) && grid.isInside(x + dx, y + dy)) {
        cells.push(grid.cell(x + dx, y + dy))
      }
    }
  }
  return cells
}

function isInShape(shape: Shape, radius: number, dx: number, dy: number): boolean {
  if (shape === 'square') return true
  if (shape === 'diamond') return Math.abs(dx) + Math.abs(dy) <= radius
  return dx * dx + dy * dy <= radius * radius + radius
}

/**
 * Hills and valleys from 0 to 255, one height per cell, that change slowly from cell to cell.
 * @param stride how many cells lie between two heights that are drawn; those between are blended
 */
export function softNoise(grid: Grid, stride: number, draw: () => number): Uint8Array {
  const columns = Math.floor(grid.side / stride) + 2
  const lattice = Uint8Array.from({ length: columns * columns }, draw)
  const heights = new Uint8Array(grid.size)
  for (let cell = 0; cell < grid.size; cell++) {
    const column = Math.floor(cell / grid.side)
    const row = cell % grid.side
    const corner = Math.floor(column / stride) * columns + Math.floor(row / stride)
    const right = column % stride
    const up = row % stride
    const low = lattice[corner]! * (stride - up) + lattice[corner + 1]! * up
    const high = lattice[corner + columns]! * (stride - up) + lattice[corner + columns + 1]! * up
    heights[cell] = Math.floor((low * (stride - right) + high * right) / (stride * stride))
  }
  return heights
}
