import { type Area, type Coord, isInWorld, type World } from '@landpass/client/grid'

export const DEFAULT_RADIUS = 150
/** A smaller city would lack some kinds of records. */
export const SMALLEST_RADIUS = 8
/** A larger city would take minutes to make, and gigabytes of memory. */
export const LARGEST_RADIUS = 400

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
 * The city for the setting `WORLD`: planned around the middle of the largest rectangle, as large as it takes to reach
 * the farthest corner of the world, and cut to the rectangles. The plan is never smaller than 17 × 17 parcels; it is
 * never larger than 801 × 801, and what lies farther away has no parcels.
 *
 * @example
 * worldShape(parseWorld('0,0,20,10')!) // origin 10,5 and radius 10
 */
export function worldShape(world: World): CityShape {
  const origin = middleOf(largestArea(world.areas))
  const { minX, minY, maxX, maxY } = world.bounds
  const reach = Math.max(maxX - origin.x, origin.x - minX, maxY - origin.y, origin.y - minY)
  const radius = Math.min(Math.max(reach, SMALLEST_RADIUS), LARGEST_RADIUS)
  return { origin, radius, isInside: (place) => isInWorld(world, place) }
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
