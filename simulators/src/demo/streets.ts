import type { Coord } from '@landpass/client/grid'
import type { Random } from '../random.ts'
import { Ground, type Skeleton } from './avenues.ts'
import { type Grid, largest } from './grid.ts'
import { line } from './strokes.ts'

interface Block {
  readonly minX: number
  readonly minY: number
  readonly maxX: number
  readonly maxY: number
}

/**
 * Cuts the city into blocks: halves a rectangle with a street, then each half, until the blocks are as small as
 * their distance from the center asks for. Streets stop at parks and pass over avenues.
 */
export function drawStreets(grid: Grid, ground: Uint8Array, skeleton: Skeleton, random: Random): void {
  const { radius } = grid
  const waiting: Block[] = [{ minX: -radius, minY: -radius, maxX: radius, maxY: radius }]
  for (let block = waiting.pop(); block; block = waiting.pop()) {
    const halves = halve(block, blockSide(grid, skeleton, block), random)
    if (!halves) continue
    drawStreet(grid, ground, halves.street)
    waiting.push(...halves.blocks)
  }
}

/** How long a side a block may have: short in the middle of the city, long at its edge. */
function blockSide({ radius }: Grid, { center }: Skeleton, { minX, minY, maxX, maxY }: Block): number {
  const dx = Math.abs(Math.floor((minX + maxX) / 2) - center.x)
  const dy = Math.abs(Math.floor((minY + maxY) / 2) - center.y)
  const away = Math.floor((Math.max(dx, dy) * 100) / radius)
  if (radius < 60) return 7
  return 11 + Math.floor((away * 14) / 100)
}

function halve(
  block: Block,
  longest: number,
  random: Random,
): { street: [Coord, Coord]; blocks: Block[] } | undefined {
  const width = block.maxX - block.minX + 1
  const height = block.maxY - block.minY + 1
  if (Math.max(width, height) <= longest) return undefined
  if (width > height || (width === height && random.chance(50))) {
    const x = block.minX + Math.floor((width * random.between(36, 64)) / 100)
    return {
      street: [
        { x, y: block.minY },
        { x, y: block.maxY },
      ],
      blocks: [
        { ...block, maxX: x - 1 },
        { ...block, minX: x + 1 },
      ],
    }
  }
  const y = block.minY + Math.floor((height * random.between(36, 64)) / 100)
  return {
    street: [
      { x: block.minX, y },
      { x: block.maxX, y },
    ],
    blocks: [
      { ...block, maxY: y - 1 },
      { ...block, minY: y + 1 },
    ],
  }
}

function drawStreet(grid: Grid, ground: Uint8Array, [from, to]: [Coord, Coord]): void {
  for (const { x, y } of line(from, to)) {
    const cell = grid.cell(x, y)
    if (ground[cell] === Ground.lot) ground[cell] = Ground.street
  }
}

/** Roads that lead nowhere become lots, so that the whole network hangs together. */
export function removeStrays(grid: Grid, ground: Uint8Array): void {
  const isRoad = (cell: number) => ground[cell] === Ground.street || ground[cell] === Ground.avenue
  const parts = grid.parts(grid.all(), isRoad)
  const network = largest(parts)
  for (const part of parts) if (part !== network) for (const cell of part) ground[cell] = Ground.lot
}
