import { CONTRACT_LIMIT, type Coord, parseCoord, type World } from '@landpass/client/grid'
import { Grid } from './grid.ts'

/** No coordinates have a y that is farther from the next x. */
const COLUMN = 2 * CONTRACT_LIMIT + 1

/**
 * Numbers the cells of a world as {@link Grid} does and, where `takesOutside` is set, also those outside of it: each gets the next
 * number behind the grid when it is named for the first time.
 */
export class Cells {
  readonly grid: Grid
  private readonly takesOutside: boolean
  /** The numbers of cells outside of the world, by their coordinates in one number. */
  private readonly numbers = new Map<number, number>()
  private readonly outside: Coord[] = []

  constructor(world: World, { takesOutside }: { readonly takesOutside: boolean }) {
    this.grid = new Grid(world)
    this.takesOutside = takesOutside
  }

  /** One more than the highest number. */
  get count(): number {
    return this.grid.size + this.outside.length
  }

  /** -1 outside of the world, where such cells are not taken. */
  of(coord: Coord): number {
    const cell = this.grid.cellOf(coord)
    return cell !== -1 || !this.takesOutside ? cell : this.outsideOf(coord)
  }

  /** The cell of `x,y`; -1 also for text that is no coordinates. */
  ofText(text: string): number {
    const coord = parseCoord(text)
    return coord ? this.of(coord) : -1
  }

  coordOf(cell: number): Coord {
    return this.outside[cell - this.grid.size] ?? this.grid.coordOf(cell)
  }

  isOutside(cell: number): boolean {
    return cell >= this.grid.size
  }

  private outsideOf(coord: Coord): number {
    const name = coord.x * COLUMN + coord.y
    const known = this.numbers.get(name)
    if (known !== undefined) return known
    const number = this.count
    this.numbers.set(name, number)
    this.outside.push(coord)
    return number
  }
}

/** A whole number for each cell. It grows when it is set for a cell outside of the world. */
export class CellColumn {
  private values: Int32Array
  private readonly empty: number

  /** @param empty what cells have that were not set */
  constructor(size: number, empty = 0) {
    this.values = new Int32Array(size).fill(empty)
    this.empty = empty
  }

  at(cell: number): number {
    return this.values[cell] ?? this.empty
  }

  set(cell: number, value: number): void {
    if (cell >= this.values.length) {
      const grown = new Int32Array(2 * cell + 1).fill(this.empty)
      grown.set(this.values)
      this.values = grown
    }
    this.values[cell] = value
  }
}
