import type { Coord } from '@landpass/client/grid'
import type { Random } from '../random.ts'
import { Ground, type Skeleton } from './avenues.ts'
import { type Grid, largest } from './grid.ts'
import { placeAt, polyline, rounded, stamp } from './strokes.ts'

/** Land that no street cuts through: lakes and woods, and the river between its bridges. */
export interface Park {
  readonly kind: 'lake' | 'river'
  readonly cells: readonly number[]
}

const LAKES = 6
const SMALLEST_REACH = 70

/** Lays parks on free ground and a promenade around each; roads that are there already stay. */
export function drawParks(grid: Grid, ground: Uint8Array, skeleton: Skeleton, random: Random): Park[] {
  const parks = [...river(grid, ground, skeleton, random)]
  const lakes = grid.radius < 60 ? 1 : LAKES
  for (let at = 0; at < lakes; at++) {
    const cells = lake(grid, ground, skeleton, { at, lakes }, random)
    if (cells.length < 4) continue
    for (const cell of cells) ground[cell] = Ground.park
    parks.push({ kind: 'lake', cells })
  }
  for (const { cells } of parks) drawPromenade(grid, ground, cells)
  return parks
}

/** A winding band from one edge to the opposite one; every road that crosses it is a bridge. */
function river(grid: Grid, ground: Uint8Array, { center }: Skeleton, random: Random): Park[] {
  const { radius } = grid
  if (radius < 60) return []
  const banks = new Set<number>()
  const width = Math.floor(radius / 36)
  for (const place of polyline(rounded(riverBed(radius, center, random)))) {
    for (const cell of stamp(grid, place, width, 'disc')) if (ground[cell] === Ground.lot) banks.add(cell)
  }
  const reaches = grid
    .parts(banks, (cell) => banks.has(cell))
    .filter((cells) => cells.length >= SMALLEST_REACH)
  for (const cells of reaches) for (const cell of cells) ground[cell] = Ground.park
  return reaches.map((cells) => ({ kind: 'river', cells }))
}

function riverBed(radius: number, center: Coord, random: Random): Coord[] {
  const side = random.chance(50) ? 1 : -1
  const turned = random.chance(50)
  const away = Math.floor(radius / 4)
  const sway = Math.floor(radius / 8)
  const bed: Coord[] = []
  const steps = 9
  for (let step = 0; step <= steps; step++) {
    const along = -radius + Math.floor((2 * radius * step) / steps)
    const across = side * away + random.between(-sway, sway)
    bed.push(turned ? { x: center.x + across, y: along } : { x: along, y: center.y + across })
  }
  return bed
}

/** A few overlapping discs, cut by the roads: the largest piece is the lake. */
function lake(
  grid: Grid,
  ground: Uint8Array,
  { center }: Skeleton,
  { at, lakes }: { at: number; lakes: number },
  random: Random,
): number[] {
  const direction = Math.floor((at * 16) / lakes) + random.below(2)
  const distance = Math.floor((grid.radius * random.between(40, 78)) / 100)
  const middle = placeAt(center, direction, distance)
  const size = Math.max(1, Math.floor((grid.radius * random.between(5, 8)) / 100))
  const cells = new Set<number>()
  for (let disc = 0; disc < 4; disc++) {
    const place = { x: middle.x + random.between(-size, size), y: middle.y + random.between(-size, size) }
    for (const cell of stamp(grid, place, size + random.below(3), 'disc')) {
      if (ground[cell] === Ground.lot) cells.add(cell)
    }
  }
  return largest(grid.parts(cells, (cell) => cells.has(cell)))
}

function drawPromenade(grid: Grid, ground: Uint8Array, cells: readonly number[]): void {
  for (const cell of cells) {
    for (const next of grid.around(cell)) if (ground[next] === Ground.lot) ground[next] = Ground.street
  }
}
