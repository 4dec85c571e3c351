import type { Area } from './world.ts'

/**
 * The world in Web Mercator, for map viewers. They show the Earth as a square that is cut into 2^z by 2^z tiles. Here
 * the square is the world: its centre is the point 0,0 of the grid, north is up, and half its side is a power of two of
 * parcels. Parcel x,y covers x to x + 1 and y to y + 1, and borders of tiles are borders of parcels.
 */

/** The address of a tile in map viewers: zoom, column from the west and row from the north. */
export interface TileAddress {
  readonly z: number
  readonly x: number
  readonly y: number
}

/** A point of the grid: parcel 0,0 covers 0,0 to 1,1. */
export type Point = readonly [x: number, y: number]

/** Width and height of a tile. */
export const TILE_PX = 256
/** Side of a parcel at the highest zoom. */
const CLOSEST_PARCEL_PX = 64

/**
 * Half the side of the square, in parcels: the smallest power of two that reaches every corner of the bounds.
 *
 * @example
 * squareHalf({ minX: -150, minY: -150, maxX: 150, maxY: 150 }) // 256
 */
export function squareHalf({ minX, minY, maxX, maxY }: Area): number {
  const reach = Math.max(Math.abs(minX), Math.abs(minY), maxX + 1, maxY + 1)
  let half = 1
  while (half < reach) half *= 2
  return half
}

/**
 * The highest zoom: a parcel has 64 pixels there, and more only where one tile holds the whole square.
 *
 * @example
 * maxZoom(256) // 7
 */
export function maxZoom(half: number): number {
  return Math.max(0, Math.log2((2 * half * CLOSEST_PARCEL_PX) / TILE_PX))
}

/**
 * Longitude and latitude of a point of the grid, in degrees. The inverse is {@link pointOf}.
 *
 * @example
 * lonLatOf(0, 0, 256) // [0, 0]
 * lonLatOf(128, 0, 256) // [90, 0]
 * lonLatOf(-256, 256, 256) // [-180, 85.0511…]
 */
export function lonLatOf(x: number, y: number, half: number): [lon: number, lat: number] {
  return [(x / half) * 180, degrees(Math.atan(Math.sinh((y / half) * Math.PI)))]
}

/**
 * The point of the grid at a longitude and latitude.
 *
 * @example
 * pointOf(90, 0, 256) // [128, 0]
 */
export function pointOf(lon: number, lat: number, half: number): [x: number, y: number] {
  return [(lon / 180) * half, (Math.asinh(Math.tan(radians(lat))) / Math.PI) * half]
}

/** Side of the tiles of a zoom, in parcels: a fraction where a parcel is larger than a tile. */
export function tileSide(z: number, half: number): number {
  return (2 * half) / 2 ** z
}

/**
 * The north-west corner of a tile.
 *
 * @example
 * tileCorner({ z: 1, x: 1, y: 0 }, 256) // [0, 256]
 */
export function tileCorner({ z, x, y }: TileAddress, half: number): Point {
  const side = tileSide(z, half)
  return [x * side - half, half - y * side]
}

/**
 * The tile that holds a parcel: the one with its south-west corner.
 *
 * @example
 * tileAt({ x: 0, y: 0 }, 1, 256) // { z: 1, x: 1, y: 0 }
 */
export function tileAt(
  parcel: { readonly x: number; readonly y: number },
  z: number,
  half: number,
): TileAddress {
  const side = tileSide(z, half)
  return { z, x: Math.floor((parcel.x + half) / side), y: Math.floor((half - parcel.y - 1) / side) }
}

function degrees(angle: number): number {
  return (angle / Math.PI) * 180
}

function radians(angle: number): number {
  return (angle / 180) * Math.PI
}
