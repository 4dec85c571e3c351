import type { Coord } from './coord.ts'
import type { Area } from './world.ts'

/**
 * The number of a cell of an area: columns from west to east, each from north to south. Outside the area: -1.
 *
 * @example
 * cellOf({ minX: 0, minY: 0, maxX: 9, maxY: 9 }, { x: 1, y: 9 }) // 10
 */
export function cellOf({ minX, minY, maxX, maxY }: Area, { x, y }: Coord): number {
  if (x < minX || x > maxX || y < minY || y > maxY) return -1
  return (x - minX) * (maxY - minY + 1) + (maxY - y)
}
