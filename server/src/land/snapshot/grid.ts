import { type Coord, isInWorld, type World } from '@landpass/client/grid'

/**
 * Numbers the cells of the box around the world, column by column from the west, each from south to north: what is
 * known of a parcel is then one slot of a flat array. A column has one slot more than cells, so that the cell
 * after the northernmost one of a column is not the first of the next.
 */
export class Grid {
  readonly size: number
  private readonly world: World
  private readonly stride: number

  constructor(world: World) {
    const { minX, minY, maxX, maxY } = world.bounds
    this.world = world
    this.stride = maxY - minY + 2
    this.size = (maxX - minX + 1) * this.stride
  }

  /** -1 outside the world. */
  cellOf(coord: Coord): number {
    if (!isInWorld(this.world, coord)) return -1
    const { minX, minY } = this.world.bounds
    return (coord.x - minX) * this.stride + (coord.y - minY)
  }

  /** How many parcels the world has: the cells of all its rectangles, each counted once. */
  countParcels(): number {
    let count = 0
    for (let cell = 0; cell < this.size; cell++) if (isInWorld(this.world, this.coordOf(cell))) count++
    return count
  }

  coordOf(cell: number): Coord {
    const { minX, minY } = this.world.bounds
    return { x: Math.floor(cell / this.stride) + minX, y: (cell % this.stride) + minY }
  }

  /** Whether one can walk from any of the cells to any other, side by side. None at all are connected. */
  areConnected(cells: ReadonlySet<number>): boolean {
    const unreached = new Set(cells)
    const edge = [...unreached].slice(0, 1)
    unreached.delete(edge[0] ?? -1)
    for (let cell = edge.pop(); cell !== undefined; cell = edge.pop()) {
      for (const next of [cell - 1, cell + 1, cell - this.stride, cell + this.stride]) {
        if (unreached.delete(next)) edge.push(next)
      }
    }
    return unreached.size === 0
  }
}
