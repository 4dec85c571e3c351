import { CONTRACT_LIMIT, type Coord } from './coord.ts'

/** A rectangle of parcels, its corners included. */
export interface Area {
  readonly minX: number
  readonly minY: number
  readonly maxX: number
  readonly maxY: number
}

/** The shape of the world: one or more rectangles, and the smallest one around them all. */
export interface World {
  readonly areas: readonly Area[]
  readonly bounds: Area
}

/** Limit of the cells in the bounds of a world. The default world has 90,601. */
export const MAX_WORLD_CELLS = 4_000_000

/**
 * Reads the setting `WORLD`: rectangles `minX,minY,maxX,maxY` separated by `;`.
 * Undefined when one is malformed, upside down, or their bounds have more cells than {@link MAX_WORLD_CELLS}.
 *
 * @example
 * parseWorld('-150,-150,150,150')?.bounds // { minX: -150, minY: -150, maxX: 150, maxY: 150 }
 */
export function parseWorld(text: string): World | undefined {
  const areas: Area[] = []
  for (const part of text.split(';')) {
    const area = parseArea(part.trim())
    if (!area) return undefined
    areas.push(area)
  }
  const bounds = {
    minX: Math.min(...areas.map((area) => area.minX)),
    minY: Math.min(...areas.map((area) => area.minY)),
    maxX: Math.max(...areas.map((area) => area.maxX)),
    maxY: Math.max(...areas.map((area) => area.maxY)),
  }
  const cells = (bounds.maxX - bounds.minX + 1) * (bounds.maxY - bounds.minY + 1)
  return cells <= MAX_WORLD_CELLS ? { areas, bounds } : undefined
}

function parseArea(text: string): Area | undefined {
  if (!/^-?\d{1,6}(?:,-?\d{1,6}){3}$/.test(text)) return undefined
  const [minX = 0, minY = 0, maxX = 0, maxY = 0] = text.split(',').map(Number)
  if (minX > maxX || minY > maxY) return undefined
  if (Math.max(-minX, -minY, maxX, maxY) > CONTRACT_LIMIT) return undefined
  return { minX, minY, maxX, maxY }
}

/**
 * Whether coordinates lie in one of the world's rectangles.
 *
 * @example
 * isInWorld(parseWorld('0,0,9,9')!, { x: 9, y: 9 }) // true
 */
export function isInWorld(world: World, { x, y }: Coord): boolean {
  return world.areas.some((area) => x >= area.minX && x <= area.maxX && y >= area.minY && y <= area.maxY)
}
