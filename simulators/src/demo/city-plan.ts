import type { Coord } from '@landpass/client/grid'
import type { Random } from '../random.ts'
import { drawAvenues, Ground, skeletonOf } from './avenues.ts'
import { type District, quartersOf } from './districts.ts'
import { Grid } from './grid.ts'
import { drawParks } from './parks.ts'
import type { CityShape } from './shape.ts'
import { drawStreets, removeStrays } from './streets.ts'
import { softNoise } from './strokes.ts'

/** Stands for a distance above {@link MAX_DISTANCE}. */
export const FAR = 255
/** The largest distance to a plaza or road that a parcel's record can give. */
const MAX_DISTANCE = 9

/** Where everything is. Nothing here has an owner, a name or a price yet. */
export interface CityPlan {
  readonly grid: Grid
  readonly center: Coord
  /** The plazas and the roads first, each as one district; none is empty. */
  readonly districts: readonly District[]
  /** Per cell, the index of its district in `districts`, or -1 for a lot or wild land. */
  readonly districtOf: Int16Array
  /** Per cell, 1 where the world has a parcel. */
  readonly inWorld: Uint8Array
  /** Per cell, 1 where the land never had an owner. */
  readonly wild: Uint8Array
  /** Per cell, how many parcels lie between it and the nearest plaza or road: 0 to 9, or {@link FAR}. */
  readonly plazaDistance: Uint8Array
  readonly roadDistance: Uint8Array
}

/**
 * Plans the city, from the large to the small: rings and avenues, plazas where they cross, parks between them,
 * streets around blocks, and quarters out of blocks. The whole square is planned, then cut to the parcels that exist:
 * districts lose what lies outside, and those that lie outside as a whole are left out.
 */
export function planCity({ radius, origin, isInside }: CityShape, random: Random): CityPlan {
  const grid = new Grid(radius, origin)
  const ground = new Uint8Array(grid.size)
  const skeleton = skeletonOf(grid, random.fork('skeleton'))
  drawAvenues(grid, ground, skeleton, random.fork('avenues'))
  const parks = drawParks(grid, ground, skeleton, random.fork('parks'))
  drawStreets(grid, ground, skeleton, random.fork('streets'))
  removeStrays(grid, ground)
  const quarters = quartersOf(grid, ground, parks, random.fork('quarters'))
  removeStrays(grid, ground)

  const inWorld = Uint8Array.from(grid.all(), (cell) => (isInside(grid.coord(cell)) ? 1 : 0))
  const plazas = cellsWhere(grid, (cell) => ground[cell] === Ground.plaza && inWorld[cell] === 1)
  const isRoad = (cell: number) => ground[cell] === Ground.street || ground[cell] === Ground.avenue
  const roads = cellsWhere(grid, (cell) => isRoad(cell) && inWorld[cell] === 1)
  const whole: District[] = [
    { kind: 'plaza', disabled: false, cells: plazas },
    { kind: 'road', disabled: false, cells: roads },
    ...quarters,
    ...parks.map(({ kind, cells }) => ({ kind, disabled: false, cells: [...cells].sort((a, b) => a - b) })),
  ]
  const districts = whole
    .map((district) => ({ ...district, cells: district.cells.filter((cell) => inWorld[cell] === 1) }))
    .filter(({ cells }) => cells.length > 0)
  const districtOf = new Int16Array(grid.size).fill(-1)
  districts.forEach(({ cells }, at) => {
    for (const cell of cells) districtOf[cell] = at
  })
  return {
    grid,
    center: skeleton.center,
    districts,
    districtOf,
    inWorld,
    wild: wilderness(grid, districtOf, random.fork('wild')),
    plazaDistance: distancesTo(grid, plazas),
    roadDistance: distancesTo(grid, roads),
  }
}

function cellsWhere(grid: Grid, belongs: (cell: number) => boolean): number[] {
  return [...grid.all()].filter(belongs)
}

/** Patches of land without an owner, most of them near the edge of the city. */
function wilderness(grid: Grid, districtOf: Int16Array, random: Random): Uint8Array {
  const wild = new Uint8Array(grid.size)
  const heights = softNoise(grid, Math.max(4, Math.floor(grid.radius / 10)), () => random.below(256))
  for (const cell of grid.all()) {
    const toEdge = grid.radius - Math.max(Math.abs(grid.x(cell)), Math.abs(grid.y(cell)))
    const limit = 128 + Math.floor((toEdge * 900) / grid.radius)
    if (districtOf[cell] === -1 && heights[cell]! > limit) wild[cell] = 1
  }
  return wild
}

/** Chebyshev distance to the nearest of some cells, minus one: 0 means that a cell touches one of them. */
function distancesTo(grid: Grid, targets: readonly number[]): Uint8Array {
  const distance = new Uint8Array(grid.size).fill(FAR)
  const reached = new Uint8Array(grid.size)
  for (const cell of targets) reached[cell] = 1
  let shore: readonly number[] = targets
  for (let step = 0; step <= MAX_DISTANCE; step++) {
    const next: number[] = []
    for (const cell of shore) {
      for (const near of grid.around(cell)) {
        if (reached[near]) continue
        reached[near] = 1
        distance[near] = step
        next.push(near)
      }
    }
    shore = next
  }
  return distance
}
