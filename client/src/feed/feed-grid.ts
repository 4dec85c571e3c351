import type { Area } from '../grid/world.ts'
import { ON_SALE } from './feed-layout.ts'
import { FeedError, type FeedPart } from './feed-reader.ts'

const KINDS = ['outside', 'unowned', 'owned', 'district', 'road', 'plaza'] as const

/** The data of one cell of the world. */
export interface FeedTile {
  readonly type: (typeof KINDS)[number]
  /** Whether the neighbour to the west, north, and north-west is in the same estate or district. */
  readonly joins: { readonly left: boolean; readonly top: boolean; readonly topLeft: boolean }
  readonly isOnSale: boolean
  readonly owner: string | undefined
  readonly estate: string | undefined
}

/**
 * The world as read from the feed: made from a whole world, and updated with changes.
 *
 * @example
 * const grid = new FeedGrid(await read('/v2/feed'))
 * const repaint = grid.apply(await read(`/v2/feed?since=${grid.state}`))
 */
export class FeedGrid {
  state = ''
  revision = 0
  timeMs = 0
  bounds: Area = { minX: 0, minY: 0, maxX: -1, maxY: -1 }
  /** One byte per cell: columns from west to east, each from north to south. */
  cells = new Uint8Array(0)
  ownerOf = new Uint32Array(0)
  estateOf = new Uint32Array(0)
  readonly owners = new Names()
  readonly estates = new Names()

  constructor(world: FeedPart) {
    this.apply(world)
  }

  /**
   * Applies a part of the feed: a whole world, or the changes since the state of this grid.
   *
   * @returns the numbers of the changed cells; undefined for all cells
   * @throws {FeedError} if the changes are for another state; the grid is unchanged then
   */
  apply(part: FeedPart): Uint32Array | undefined {
    if (part.since === undefined) this.replace(part)
    else if (part.since !== this.state || !isSameArea(part.bounds, this.bounds)) {
      throw new FeedError('These changes are for another state. Read the whole world.')
    }
    const ownerNumbers = this.owners.numbersOf(part.owners)
    const estateNumbers = this.estates.numbersOf(part.estates)
    for (let i = 0; i < part.cells.length; i++) {
      const cell = part.numbers ? part.numbers[i]! : i
      this.cells[cell] = part.cells[i]!
      this.ownerOf[cell] = ownerNumbers[part.ownerOf[i]!]!
      this.estateOf[cell] = estateNumbers[part.estateOf[i]!]!
    }
    this.state = part.state
    this.revision = part.revision
    this.timeMs = part.timeMs
    return part.numbers
  }

  /** The number of the cell at coordinates; -1 outside the bounds. */
  cellAt(x: number, y: number): number {
    const { minX, minY, maxX, maxY } = this.bounds
    if (x < minX || x > maxX || y < minY || y > maxY) return -1
    return (x - minX) * (maxY - minY + 1) + (maxY - y)
  }

  tileAt(x: number, y: number): FeedTile {
    const number = this.cellAt(x, y)
    const cell = this.cells[number] ?? 0
    return {
      type: KINDS[cell & 0b111] ?? 'outside',
      joins: { left: (cell & 8) !== 0, top: (cell & 16) !== 0, topLeft: (cell & 32) !== 0 },
      isOnSale: (cell & ON_SALE) !== 0,
      owner: this.owners.list[this.ownerOf[number] ?? 0],
      estate: this.estates.list[this.estateOf[number] ?? 0],
    }
  }

  private replace({ bounds, cells }: FeedPart): void {
    this.bounds = bounds
    this.cells = new Uint8Array(cells.length)
    this.ownerOf = new Uint32Array(cells.length)
    this.estateOf = new Uint32Array(cells.length)
    this.owners.clear()
    this.estates.clear()
  }
}

/** Names, numbered from 1; number 0 is no name. */
class Names {
  readonly list: (string | undefined)[] = [undefined]
  private readonly numbers = new Map<string, number>()

  clear(): void {
    this.list.length = 1
    this.numbers.clear()
  }

  /** The numbers in this list for the names of a part, which numbers them from 1. */
  numbersOf(names: readonly string[]): readonly number[] {
    return [0, ...names.map((name) => this.numberOf(name))]
  }

  private numberOf(name: string): number {
    const known = this.numbers.get(name)
    if (known !== undefined) return known
    const number = this.list.push(name) - 1
    this.numbers.set(name, number)
    return number
  }
}

function isSameArea(a: Area, b: Area): boolean {
  return a.minX === b.minX && a.minY === b.minY && a.maxX === b.maxX && a.maxY === b.maxY
}
