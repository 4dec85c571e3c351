import type { Random } from '../random.ts'
import { Ground } from './avenues.ts'
import { type Grid, largest } from './grid.ts'
import type { Park } from './parks.ts'

export interface District {
  readonly kind: 'plaza' | 'road' | 'quarter' | Park['kind']
  readonly disabled: boolean
  readonly cells: readonly number[]
}

/** Blocks of lots between streets, and which of them face each other across one. */
interface Blocks {
  readonly cells: readonly number[][]
  /** Per cell, the number of its block, or -1. */
  readonly of: Int32Array
  /** Per block, how many street cells it shares with each other block. */
  readonly shared: readonly Map<number, number>[]
}

const DISTRICTS = 40
const DISABLED_AT_MOST = 30
/** Two blocks join over a street only if they face each other along so many cells. */
const COMMON_STREET = 3

/** Joins blocks into quarters, with the streets between them, until the city has about forty districts. */
export function quartersOf(
  grid: Grid,
  ground: Uint8Array,
  parks: readonly Park[],
  random: Random,
): District[] {
  const blocks = blocksOf(grid, ground)
  const taken = new Uint8Array(blocks.cells.length)
  const quarters: District[] = []
  const closed = smallBlock(grid, blocks, random)
  if (closed !== undefined) {
    taken[closed] = 1
    quarters.push({ kind: 'quarter', disabled: true, cells: blocks.cells[closed]! })
  }
  const seeds: number[] = []
  const wanted = grid.radius < 60 ? 2 + Math.floor(grid.radius / 8) : DISTRICTS - parks.length
  for (let rank = 0; rank < wanted; rank++) {
    const seed = farFromOthers(grid, blocks, { taken, seeds }, random)
    if (seed === undefined) break
    seeds.push(blocks.cells[seed]![0]!)
    const joined = grow(grid, blocks, { seed, taken, target: targetSize(grid, rank) }, random)
    quarters.push({ kind: 'quarter', disabled: false, cells: withInnerStreets(grid, ground, blocks, joined) })
  }
  return quarters
}

/** A few large quarters and many small ones. */
function targetSize({ size, radius }: Grid, rank: number): number {
  if (radius < 60) return Math.floor(size / (20 + 8 * rank))
  return Math.floor((size * 165) / (1000 * (rank + 6)))
}

function blocksOf(grid: Grid, ground: Uint8Array): Blocks {
  const cells = grid.parts(grid.all(), (cell) => ground[cell] === Ground.lot)
  const of = new Int32Array(grid.size).fill(-1)
  cells.forEach((block, number) => {
    for (const cell of block) of[cell] = number
  })
  const shared = cells.map(() => new Map<number, number>())
  for (const cell of grid.all()) {
    if (ground[cell] !== Ground.street) continue
    const [x, y] = [grid.x(cell), grid.y(cell)]
    for (const [dx, dy] of [
      [1, 0],
      [0, 1],
    ] as const) {
      if (!grid.isInside(x + dx, y + dy) || !grid.isInside(x - dx, y - dy)) continue
      const one = of[grid.cell(x + dx, y + dy)]!
      const other = of[grid.cell(x - dx, y - dy)]!
      if (one < 0 || other < 0 || one === other) continue
      shared[one]!.set(other, (shared[one]!.get(other) ?? 0) + 1)
      shared[other]!.set(one, (shared[other]!.get(one) ?? 0) + 1)
    }
  }
  return { cells, of, shared }
}

/** For the one disabled district: a small block, if possible neither tiny nor in the middle nor at the edge. */
function smallBlock(grid: Grid, { cells }: Blocks, random: Random): number | undefined {
  const small = cells.flatMap((block, number) =>
    block.length >= 2 && block.length <= DISABLED_AT_MOST ? [number] : [],
  )
  const between = small.filter((number) => {
    const away = distanceFromMiddle(grid, cells[number]![0]!)
    return away * 5 > grid.radius && away * 5 < grid.radius * 4
  })
  const roomy = between.filter((number) => cells[number]!.length >= 12)
  const choice = [roomy, between, small].find((numbers) => numbers.length > 0)
  return choice && random.pick(choice)
}

function distanceFromMiddle(grid: Grid, cell: number): number {
  return Math.max(Math.abs(grid.x(cell)), Math.abs(grid.y(cell)))
}

/** A free block far from the quarters that are there: the best of a few at random. */
function farFromOthers(
  grid: Grid,
  { cells }: Blocks,
  { taken, seeds }: { taken: Uint8Array; seeds: readonly number[] },
  random: Random,
): number | undefined {
  const smallest = Math.max(4, Math.floor(grid.radius / 3))
  const free = cells.flatMap((block, number) => (taken[number] || block.length < smallest ? [] : [number]))
  let best: number | undefined
  let bestDistance = -1
  for (let draw = 0; draw < 8 && free.length > 0; draw++) {
    const number = random.pick(free)
    const cell = cells[number]![0]!
    if (distanceFromMiddle(grid, cell) * 8 < grid.radius) continue
    const distance = Math.min(2 * grid.radius, ...seeds.map((seed) => apart(grid, cell, seed)))
    if (distance > bestDistance) {
      best = number
      bestDistance = distance
    }
  }
  return best
}

function apart(grid: Grid, one: number, other: number): number {
  return Math.max(Math.abs(grid.x(one) - grid.x(other)), Math.abs(grid.y(one) - grid.y(other)))
}

/** Adds the neighbouring block nearest to the first one, roughly, until the quarter is large enough. */
function grow(
  grid: Grid,
  blocks: Blocks,
  { seed, taken, target }: { seed: number; taken: Uint8Array; target: number },
  random: Random,
): number[] {
  const joined = [seed]
  taken[seed] = 1
  const frontier = new Map<number, number>()
  const home = blocks.cells[seed]![0]!
  const room = blocks.cells.reduce((sum, block, number) => (taken[number] ? sum : sum + block.length), 0)
  let size = blocks.cells[seed]!.length
  while (size < target && size < room / 3) {
    for (const [number, length] of blocks.shared[joined.at(-1)!]!) {
      if (taken[number] || length < COMMON_STREET || frontier.has(number)) continue
      const distance = apart(grid, home, blocks.cells[number]![0]!)
      frontier.set(number, distance + random.below(8))
    }
    const next = nearest(frontier)
    if (next === undefined) break
    frontier.delete(next)
    taken[next] = 1
    joined.push(next)
    size += blocks.cells[next]!.length
  }
  return joined
}

function nearest(frontier: ReadonlyMap<number, number>): number | undefined {
  let best: number | undefined
  let bestDistance = Number.MAX_SAFE_INTEGER
  for (const [number, distance] of frontier) {
    if (distance >= bestDistance) continue
    best = number
    bestDistance = distance
  }
  return best
}

/** The blocks and every street cell that touches no other block: those have become paths of the quarter. */
function withInnerStreets(
  grid: Grid,
  ground: Uint8Array,
  blocks: Blocks,
  joined: readonly number[],
): number[] {
  const own = new Set(joined)
  const cells = new Set(joined.flatMap((number) => blocks.cells[number]!))
  const streets = new Set<number>()
  for (const cell of cells) {
    for (const next of grid.around(cell)) {
      if (ground[next] !== Ground.street || streets.has(next)) continue
      const isInner = grid
        .around(next)
        .every((near) => ground[near] === Ground.street || own.has(blocks.of[near]!))
      if (isInner) streets.add(next)
    }
  }
  const part = largest(grid.parts(cells, (cell) => cells.has(cell) || streets.has(cell)))
  for (const cell of part) ground[cell] = Ground.lot
  return part.sort((one, other) => one - other)
}
