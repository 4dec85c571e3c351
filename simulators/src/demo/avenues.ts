import type { Coord } from '@landpass/client/grid'
import type { Random } from '../random.ts'
import type { Grid } from './grid.ts'
import { DIRECTIONS, placeAt, polyline, type Shape, stamp } from './strokes.ts'

/** What a cell of the plan is before districts are laid over it. */
export const Ground = { lot: 0, street: 1, avenue: 2, plaza: 3, park: 4 } as const

/** The large lines of the city: everything else is fitted between them. */
export interface Skeleton {
  readonly center: Coord
  /** Closed roads around the center, from the inside out, sixteen corners each. */
  readonly rings: readonly (readonly Coord[])[]
  /** For each of the eight avenues that leave the center: which corner of the rings it passes. */
  readonly spokes: readonly number[]
}

const RING_PERCENT = [29, 61, 88]
const SMALL_CITY = 30
const SHAPES: readonly Shape[] = ['disc', 'square', 'diamond']

export function skeletonOf({ radius }: Grid, random: Random): Skeleton {
  const sway = Math.floor(radius / 30)
  const center = { x: random.between(-sway, sway), y: random.between(-sway, sway) }
  const percents = radius < SMALL_CITY ? [60] : RING_PERCENT
  const rings = percents.map((percent) =>
    DIRECTIONS.map((_, at) =>
      placeAt(center, at, Math.floor((radius * percent * random.between(93, 106)) / 10_000)),
    ),
  )
  const spokes = Array.from({ length: 8 }, (_, at) => 2 * at + random.below(2))
  return { center, rings, spokes }
}

/** Draws the rings, the avenues and the plazas on an empty plan. */
export function drawAvenues(grid: Grid, ground: Uint8Array, skeleton: Skeleton, random: Random): void {
  const width = grid.radius < 60 ? 1 : 2
  const paths = [
    ...skeleton.rings.map((ring) => [...ring, ring[0]!]),
    ...skeleton.spokes.map((spoke, at) =>
      spokePath(grid, skeleton, { spoke, toTheEdge: at % 2 === 0 }, random),
    ),
  ]
  for (const path of paths) drawRoad(grid, ground, polyline(path), width)
  for (const path of byways(grid, skeleton)) drawRoad(grid, ground, polyline(path), 1)
  drawPlazas(grid, ground, skeleton, random)
}

/** From the center through every ring, with a bend on the way from each ring to the next. */
function spokePath(
  { radius }: Grid,
  { center, rings }: Skeleton,
  { spoke, toTheEdge }: { spoke: number; toTheEdge: boolean },
  random: Random,
): Coord[] {
  const path = [center]
  for (const ring of rings) {
    const from = path.at(-1)!
    const to = ring[spoke]!
    if (path.length > 1) path.push(bend(from, to, Math.floor(radius / 18), random))
    path.push(to)
  }
  if (toTheEdge) path.push(placeAt(path.at(-1)!, spoke, radius))
  return path
}

function bend(from: Coord, to: Coord, sway: number, random: Random): Coord {
  return {
    x: Math.trunc((from.x + to.x) / 2) + random.between(-sway, sway),
    y: Math.trunc((from.y + to.y) / 2) + random.between(-sway, sway),
  }
}

/** Where the avenues are far apart, narrower roads lead outward between them. */
function byways({ radius }: Grid, { rings, spokes }: Skeleton): Coord[][] {
  const [, middle, outer] = rings
  if (!middle || !outer) return []
  const free = DIRECTIONS.map((_, at) => at).filter((at) => !spokes.includes(at))
  return free.map((at, turn) =>
    turn % 3 === 0 ? [middle[at]!, outer[at]!, placeAt(outer[at]!, at, radius)] : [middle[at]!, outer[at]!],
  )
}

function drawRoad(grid: Grid, ground: Uint8Array, places: readonly Coord[], width: number): void {
  for (const { x, y } of places) {
    for (let dx = 0; dx < width; dx++) {
      for (let dy = 0; dy < width; dy++) {
        if (grid.isInside(x + dx, y + dy)) ground[grid.cell(x + dx, y + dy)] = Ground.avenue
      }
    }
  }
}

/** One plaza in the center and more where avenues cross the rings, each with a road around it. */
function drawPlazas(
  grid: Grid,
  ground: Uint8Array,
  { center, rings, spokes }: Skeleton,
  random: Random,
): void {
  const unit = grid.radius
  const plazas = [
    { place: center, radius: Math.max(1, Math.floor((unit * 6) / 100)), shape: 'disc' as Shape },
  ]
  rings.slice(0, 2).forEach((ring, at) => {
    const crossings = spokes.filter(
      (_, turn) => turn % 2 === at && (at === 1 || unit >= SMALL_CITY || turn < 4),
    )
    for (const spoke of crossings) {
      const radius = Math.floor((unit * random.between(20, 32)) / 1000)
      plazas.push({ place: ring[spoke]!, radius, shape: random.pick(SHAPES) })
    }
  })
  for (const { place, radius, shape } of plazas) {
    const cells = stamp(grid, place, radius, shape)
    for (const cell of cells) {
      for (const next of grid.around(cell)) if (ground[next] !== Ground.plaza) ground[next] = Ground.avenue
    }
    for (const cell of cells) ground[cell] = Ground.plaza
  }
}
