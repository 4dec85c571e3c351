import { type Area, type Coord, isInWorld, type World } from '@landpass/client/grid'

export const DEFAULT_RADIUS = 150
/** A smaller city would lack some kinds of records. */
export const SMALLEST_RADIUS = 8
/** A larger city would take minutes to make, and gigabytes of memory. */
export const LARGEST_RADIUS = 400
/** A square of this radius has 22,801 cells, which are planned in a fraction of a second. */
const SMALL_RADIUS = 75
/** A larger square may have so many cells for each parcel of the world. */
const CELLS_PER_PARCEL = 4

/** Which square a city is planned for, and which parcels of it exist. */
export interface CityShape {
  /** The middle of the square. The plan counts from there; records carry the coordinates of the world. */
  readonly origin: Coord
  /** The square reaches from -radius to radius around the origin, on both axes. */
  readonly radius: number
  /** Whether a parcel exists, by its coordinates in the world. */
  readonly isInside: (place: Coord) => boolean
}

/** All of the square from -radius to radius around 0,0. */
export function squareShape(radius: number): CityShape {
  return { origin: { x: 0, y: 0 }, radius, isInside: () => true }
}

/**
 * The city for the setting `WORLD`: planned around the middle of the largest rectangle, and cut to the rectangles. The
 * plan reaches to the farthest corner of the largest rectangle, and to those of the others as far as the square stays
 * within {@link SMALL_RADIUS} or has at most {@link CELLS_PER_PARCEL} cells for each parcel: the cost of a city follows
 * its parcels, not the distance between them. It is never smaller than 17 × 17 parcels and never larger than 801 × 801.
 * What lies farther away has no parcels.
 *
 * @example
 * worldShape(parseWorld('0,0,20,10')!) // origin 10,5 and radius 10
 */
export function worldShape(world: World): CityShape {
  const largest = largestArea(world.areas)
  const origin = middleOf(largest)
  const reach = Math.max(
    reachOf(largest, origin),
    Math.min(reachOf(world.bounds, origin), affordableRadius(world)),
  )
  const radius = Math.min(Math.max(reach, SMALLEST_RADIUS), LARGEST_RADIUS)
  return { origin, radius, isInside: (place) => isInWorld(world, place) }
}

/** How far the farthest corner of a rectangle is from a place, in columns or rows. */
function reachOf({ minX, minY, maxX, maxY }: Area, { x, y }: Coord): number {
  return Math.max(maxX - x, x - minX, maxY - y, y - minY)
}

function affordableRadius({ areas }: World): number {
  const parcels = areas.reduce((sum, area) => sum + parcelsIn(area), 0)
  const side = Math.floor(Math.sqrt(CELLS_PER_PARCEL * parcels))
  return Math.max(SMALL_RADIUS, Math.floor((side - 1) / 2))
}

function middleOf({ minX, minY, maxX, maxY }: Area): Coord {
  return { x: Math.floor((minX + maxX) / 2), y: Math.floor((minY + maxY) / 2) }
}

/** The first of equals. */
function largestArea([first, ...others]: readonly Area[]): Area {
  return others.reduce((best, area) => (parcelsIn(area) > parcelsIn(best) ? area : best), first!)
}

function parcelsIn({ minX, minY, maxX, maxY }: Area): number {
  return (maxX - minX + 1) * (maxY - minY + 1)
}
