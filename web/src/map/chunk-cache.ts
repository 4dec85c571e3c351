import { type CellRange, rangeSizePx } from './cell-painter.ts'

/**
 * Pictures of parts of the world, painted once and laid on the screen many times. A level holds those of one zoom; a
 * chunk is a square of some parcels of about CHUNK_PX. The least recently shown ones go when there are too many.
 */

/** A painted part. */
export interface Chunk {
  readonly range: CellRange
  readonly canvas: HTMLCanvasElement
  /** Its cells or their colours have changed: it is shown as it is until it is painted again. */
  isStale: boolean
  /** The frame that showed it last. */
  shownAt: number
}

/** All chunks of one size of a parcel. */
export interface Level {
  readonly cellPx: number
  /** Parcels on a side of a chunk. */
  readonly side: number
  readonly chunks: Map<number, Chunk>
}

/** In parcels. */
export interface WorldSize {
  readonly columns: number
  readonly rows: number
}

/** Side of a chunk in device pixels: small enough to paint one well within a frame on a slow machine. */
const CHUNK_PX = 320
/**
 * Limit of cached pixels, four bytes each: about 50 MB. A screen that needs more gets more; one of 2560 by 1600 needs a
 * third.
 */
export const MOST_PIXELS = 12_500_000
/** Numbers of chunks by column and row: more of either than any level has. */
const CHUNK_COLUMNS = 1 << 16

export class ChunkCache {
  private readonly columns: number
  private readonly rows: number
  private readonly makeCanvas: () => HTMLCanvasElement
  private readonly levels = new Map<number, Level>()
  private pixels = 0

  constructor({ columns, rows }: WorldSize, makeCanvas: () => HTMLCanvasElement) {
    this.columns = columns
    this.rows = rows
    this.makeCanvas = makeCanvas
  }

  /** How many of the screen's own pixels are painted. */
  get sizePx(): number {
    return this.pixels
  }

  /** The limit is exceeded because the screen needs all of the chunks. */
  get isFull(): boolean {
    return this.pixels > MOST_PIXELS
  }

  /** The level of a size of a parcel, in the screen's own pixels. */
  level(cellPx: number): Level {
    const known = this.levels.get(cellPx)
    if (known) return known
    const level = { cellPx, side: Math.max(1, Math.round(CHUNK_PX / cellPx)), chunks: new Map() }
    this.levels.set(cellPx, level)
    return level
  }

  /** The ranges of chunks that show any of these cells; beyond the world there are none. */
  rangesOver({ side }: Level, cells: CellRange): CellRange[] {
    const ranges: CellRange[] = []
    const lastColumn = Math.min(this.columns, cells.column + cells.columns)
    const lastRow = Math.min(this.rows, cells.row + cells.rows)
    if (cells.column >= lastColumn || cells.row >= lastRow) return ranges
    for (let column = startOf(cells.column, side); column < lastColumn; column += side) {
      for (let row = startOf(cells.row, side); row < lastRow; row += side) {
        const columns = Math.min(side, this.columns - column)
        ranges.push({ column, row, columns, rows: Math.min(side, this.rows - row) })
      }
    }
    return ranges
  }

  find(level: Level, range: CellRange): Chunk | undefined {
    return level.chunks.get(numberOf(level, range))
  }

  /** The chunk of a range to paint on; a new one is put into the level, and older ones make room for it. */
  take(level: Level, range: CellRange, frame: number): Chunk {
    const known = this.find(level, range)
    if (known) return known
    const { widthPx, heightPx } = rangeSizePx(range, level.cellPx)
    this.makeRoom(widthPx * heightPx, frame)
    const canvas = this.makeCanvas()
    canvas.width = widthPx
    canvas.height = heightPx
    const chunk = { range, canvas, isStale: true, shownAt: frame }
    level.chunks.set(numberOf(level, range), chunk)
    this.levels.set(level.cellPx, level) // evicting others may have emptied the level and removed it
    this.pixels += widthPx * heightPx
    return chunk
  }

  /** Marks the chunks that show a cell. */
  touch(column: number, row: number): void {
    for (const level of this.levels.values()) {
      const { side } = level
      const chunk = level.chunks.get(
        numberOf(level, { column: startOf(column, side), row: startOf(row, side) }),
      )
      if (chunk) chunk.isStale = true
    }
  }

  touchAll(): void {
    for (const { chunks } of this.levels.values()) for (const chunk of chunks.values()) chunk.isStale = true
  }

  private makeRoom(wanted: number, frame: number): void {
    while (this.pixels + wanted > MOST_PIXELS) {
      const oldest = this.oldest()
      if (!oldest || oldest.chunk.shownAt >= frame) return // every chunk is on the screen: nothing can be evicted
      const { level, key, chunk } = oldest
      level.chunks.delete(key)
      if (level.chunks.size === 0) this.levels.delete(level.cellPx)
      this.pixels -= chunk.canvas.width * chunk.canvas.height
      // Some browsers free the memory of a canvas only at the next garbage collection, unless its size is 0.
      chunk.canvas.width = 0
    }
  }

  private oldest(): { level: Level; key: number; chunk: Chunk } | undefined {
    let oldest: { level: Level; key: number; chunk: Chunk } | undefined
    for (const level of this.levels.values()) {
      for (const [key, chunk] of level.chunks) {
        if (!oldest || chunk.shownAt < oldest.chunk.shownAt) oldest = { level, key, chunk }
      }
    }
    return oldest
  }
}

function startOf(cell: number, side: number): number {
  return Math.max(0, Math.floor(cell / side)) * side
}

function numberOf({ side }: Level, { column, row }: Pick<CellRange, 'column' | 'row'>): number {
  return (column / side) * CHUNK_COLUMNS + row / side
}
