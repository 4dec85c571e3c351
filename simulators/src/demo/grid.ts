import type { Coord } from '@landpass/client/grid'

/**
 * A square of parcels around 0,0, numbered by x, then y, both ascending: the order of the snapshot. All maps of
 * this folder are flat arrays over these numbers: x,y is `map[(x + radius) * side + y + radius]`.
 *
 * The plan counts from the middle of the square. Only {@link coord} answers with the coordinates of the world.
 */
export class Grid {
  readonly radius: number
  readonly side: number
  readonly size: number
  private readonly origin: Coord

  /** @param origin where the middle of the square lies in the world */
  constructor(radius: number, origin: Coord) {
    this.origin = origin
    this.radius = radius
    this.side = 2 * radius + 1
    this.size = this.side * this.side
  }

  isInside(x: number, y: number): boolean {
    return Math.max(x, -x, y, -y) <= this.radius
  }

  /** The number of a place in the square. */
  cell(x: number, y: number): number {
    return (x + this.radius) * this.side + y + this.radius
  }

  x(cell: number): number {
    return Math.floor(cell / this.side) - this.radius
  }

  y(cell: number): number {
    return (cell % this.side) - this.radius
  }

  /** Where a cell lies in the world. */
  coord(cell: number): Coord {
    return { x: this.x(cell) + this.origin.x, y: this.y(cell) + this.origin.y }
  }

  /** The cells that share a side with this one: two to four. */
  sides(cell: number): number[] {
    const x = this.x(cell)
    const y = this.y(cell)
    const found: number[] = []
    if (x > -this.radius) found.push(cell - this.side)
    if (x < this.radius) found.push(cell + this.side)
    if (y > -this.radius) found.push(cell - 1)
    if (y < this.radius) found.push(cell + 1)
    return found
  }

  /** The cells that touch this one, at a side or a corner: three to eight. */
  around(cell: number): number[] {
    const x = this.x(cell)
    const y = this.y(cell)
    const found: number[] = []
    for (let dx = -1; dx <= 1; dx++) {
      for (let dy = -1; dy <= 1; dy++) {
        if ((dx !== 0 || dy !== 0) && this.isInside(x + dx, y + dy)) found.push(this.cell(x + dx, y + dy))
      }
    }
    return found
  }

  /** All cells that can be reached side by side from a cell, over cells that belong, the first one included. */
  reach(start: number, belongs: (cell: number) => boolean, seen: Uint8Array): number[] {
    const found = [start]
    seen[start] = 1
    for (let at = 0; at < found.length; at++) {
      for (const next of this.sides(found[at]!)) {
        if (seen[next] || !belongs(next)) continue
        seen[next] = 1
        found.push(next)
      }
    }
    return found
  }

  /** The connected parts of a set of cells, in the order of their first cells. */
  parts(cells: Iterable<number>, belongs: (cell: number) => boolean): number[][] {
    const seen = new Uint8Array(this.size)
    const parts: number[][] = []
    for (const cell of cells) {
      if (!seen[cell] && belongs(cell)) parts.push(this.reach(cell, belongs, seen))
    }
    return parts
  }

  /** Numbers of all cells, in order. */
  *all(): Generator<number> {
    for (let cell = 0; cell < this.size; cell++) yield cell
  }
}

/** The largest of some parts; the first of equals. An empty one if there are none. */
export function largest(parts: readonly number[][]): number[] {
  let best: number[] = []
  for (const part of parts) if (part.length > best.length) best = part
  return best
}
