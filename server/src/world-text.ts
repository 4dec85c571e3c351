import type { World } from '@landpass/client/grid'

/**
 * The rectangles of a world, for people.
 *
 * @example
 * worldText(parseWorld('-10,-10,10,10;20,0,25,5')!) // '-10,-10 to 10,10 or 20,0 to 25,5'
 */
export function worldText({ areas }: World): string {
  return areas.map(({ minX, minY, maxX, maxY }) => `${minX},${minY} to ${maxX},${maxY}`).join(' or ')
}
