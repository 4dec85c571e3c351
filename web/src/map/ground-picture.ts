import {
  type CellRange,
  edgePx,
  type Ground,
  paintOverview,
  paintRange,
  rangeSizePx,
} from './cell-painter.ts'
import { ChunkCache, type Level } from './chunk-cache.ts'
import { type MapPalette, pixelsOf } from './map-palette.ts'

/**
 * The land as cached pictures: a coarse one of the whole world with a pixel for each parcel, and sharp ones of parts,
 * painted on demand. Until a sharp one is painted, those of the previous zoom and the coarse one show in its place.
 */

/** What of the world is on the screen, in the screen's own pixels. */
export interface Frame {
  readonly widthPx: number
  readonly heightPx: number
  /** Side of a parcel. */
  readonly cellPx: number
  /** Where the world's north-west corner lies: whole numbers, so that edges of parcels are edges of pixels. */
  readonly leftPx: number
  readonly topPx: number
}

export interface PaintingDone {
  /** Something that is on the screen was painted. */
  readonly onScreen: boolean
  /** There is more to paint. */
  readonly isMore: boolean
}

/**
 * From this share of changed cells on all chunks count as changed: finding the unchanged ones would take longer than
 * painting.
 */
const MOST_TOUCHED = 8
/**
 * Smallest painted size of a parcel, in device pixels. Smaller ones share a pixel: the browser scales a painted picture
 * down.
 */
const LEAST_CELL_PX = 1

export class GroundPicture {
  private readonly ground: Ground
  private inks: Uint8Array | undefined
  private palette: MapPalette
  private colours: Uint32Array
  private readonly cache: ChunkCache
  private readonly overview = newCanvas()
  private isOverviewStale = true
  /** The level of the current zoom, and the previous one until the current one covers the screen. */
  private level: Level | undefined
  private before: Level | undefined
  private frames = 0

  constructor(ground: Ground, palette: MapPalette) {
    this.ground = ground
    this.inks = ground.inks
    this.palette = palette
    this.colours = pixelsOf(palette)
    this.cache = new ChunkCache(ground, newCanvas)
    this.overview.width = ground.columns
    this.overview.height = ground.rows
  }

  setPalette(palette: MapPalette): void {
    if (palette === this.palette) return
    this.palette = palette
    this.colours = pixelsOf(palette)
    this.isOverviewStale = true
    this.cache.touchAll()
  }

  setInks(inks: Uint8Array | undefined): void {
    const before = this.inks
    this.inks = inks
    if (before === inks) return
    const cells = before && inks && findDifferences(before, inks)
    if (cells) this.touch(cells)
    else this.touchAll()
  }

  /** These cells have changed. */
  touch(cells: ArrayLike<number>): void {
    if (cells.length === 0) return
    this.isOverviewStale = true
    const { rows } = this.ground
    if (cells.length > this.ground.cells.length / MOST_TOUCHED) this.cache.touchAll()
    else
      for (let i = 0; i < cells.length; i++) this.cache.touch(Math.floor(cells[i]! / rows), cells[i]! % rows)
  }

  touchAll(): void {
    this.isOverviewStale = true
    this.cache.touchAll()
  }

  /**
   * Paints missing sharp parts until a time: first those on the screen, from the middle outwards; when they are
   * complete, one just outside, so that it is ready when the map is dragged.
   */
  paint(frame: Frame, untilMs: number): PaintingDone {
    this.frames++
    const level = this.levelFor(frame.cellPx)
    const missing = sortedByDistance(this.unpainted(level, visibleCells(frame)), frame)
    if (missing.length === 0) return this.paintBeside(level, frame)
    for (const range of missing) {
      this.paintChunk(level, range)
      if (performance.now() >= untilMs) break
    }
    return { onScreen: true, isMore: true }
  }

  private paintBeside(level: Level, frame: Frame): PaintingDone {
    if (this.cache.isFull) return { onScreen: false, isMore: false } // the cache is full of chunks on the screen
    const [nearest] = sortedByDistance(this.unpainted(level, visibleCells(around(frame))), frame)
    if (nearest) this.paintChunk(level, nearest)
    return { onScreen: false, isMore: nearest !== undefined }
  }

  /** Whether everything on the screen is sharp and up to date. */
  isSharp(frame: Frame): boolean {
    const { level } = this
    return level?.cellPx === frame.cellPx && this.unpainted(level, visibleCells(frame)).length === 0
  }

  /** Draws the pictures on the canvas. */
  draw(context: CanvasRenderingContext2D, frame: Frame): void {
    context.imageSmoothingEnabled = false
    const isCovered = this.level?.cellPx === frame.cellPx && this.covers(this.level, frame)
    if (!isCovered || !isWithinWorld(frame, this.ground)) {
      context.fillStyle = this.palette.kinds[0]
      context.fillRect(0, 0, frame.widthPx, frame.heightPx)
    }
    if (isCovered) this.before = undefined
    else this.drawOverview(context, frame)
    if (this.before) this.drawLevel(context, frame, this.before)
    if (this.level) this.drawLevel(context, frame, this.level)
  }

  private levelFor(cellPx: number): Level {
    if (this.level?.cellPx !== cellPx) {
      // While the zoom changes in every frame, the last sharp level stays below.
      if (this.level && this.level.chunks.size > 0) this.before = this.level
      this.level = this.cache.level(cellPx)
    }
    return this.level
  }

  private unpainted(level: Level, cells: CellRange): CellRange[] {
    return this.cache.rangesOver(level, cells).filter((range) => {
      const chunk = this.cache.find(level, range)
      if (chunk) chunk.shownAt = this.frames
      return chunk?.isStale ?? true
    })
  }

  private covers(level: Level, frame: Frame): boolean {
    const ranges = this.cache.rangesOver(level, visibleCells(frame))
    return ranges.every((range) => this.cache.find(level, range) !== undefined)
  }

  private paintChunk(level: Level, range: CellRange): void {
    const chunk = this.cache.take(level, range, this.frames)
    const { canvas } = chunk
    const context = canvas.getContext('2d', { alpha: false })
    chunk.isStale = false
    if (!context) return
    const { cellPx } = level
    if (cellPx < LEAST_CELL_PX) {
      context.imageSmoothingQuality = 'high'
      const { column, row, columns, rows } = range
      context.drawImage(this.freshOverview(), column, row, columns, rows, 0, 0, canvas.width, canvas.height)
      return
    }
    const image = context.createImageData(canvas.width, canvas.height)
    const pixels = new Uint32Array(image.data.buffer)
    paintRange({ ground: this.inked(), range, cellPx, colours: this.colours, pixels })
    context.putImageData(image, 0, 0)
  }

  private drawOverview(context: CanvasRenderingContext2D, frame: Frame): void {
    const { columns, rows } = this.ground
    const all = spotPx({ column: 0, row: 0, columns, rows }, frame)
    context.imageSmoothingEnabled = frame.cellPx < LEAST_CELL_PX
    context.drawImage(this.freshOverview(), all.leftPx, all.topPx, all.widthPx, all.heightPx)
    context.imageSmoothingEnabled = false
  }

  private drawLevel(context: CanvasRenderingContext2D, frame: Frame, level: Level): void {
    const isSame = level.cellPx === frame.cellPx
    for (const { range, canvas } of level.chunks.values()) {
      const { leftPx, topPx, widthPx, heightPx } = spotPx(range, frame)
      if (leftPx >= frame.widthPx || topPx >= frame.heightPx) continue
      if (leftPx + widthPx <= 0 || topPx + heightPx <= 0) continue
      if (isSame) context.drawImage(canvas, leftPx, topPx)
      else context.drawImage(canvas, leftPx, topPx, widthPx, heightPx)
    }
  }

  private freshOverview(): HTMLCanvasElement {
    const { overview } = this
    const context = this.isOverviewStale ? overview.getContext('2d', { alpha: false }) : null
    if (context) {
      const image = context.createImageData(overview.width, overview.height)
      paintOverview(this.inked(), this.colours, new Uint32Array(image.data.buffer))
      context.putImageData(image, 0, 0)
      this.isOverviewStale = false
    }
    return overview
  }

  private inked(): Ground {
    return { ...this.ground, inks: this.inks }
  }
}

function newCanvas(): HTMLCanvasElement {
  return document.createElement('canvas')
}

/** Where a range of cells lies on the screen. */
export function spotPx(range: CellRange, { cellPx, leftPx, topPx }: Frame) {
  return {
    leftPx: leftPx + edgePx(range.column, cellPx),
    topPx: topPx + edgePx(range.row, cellPx),
    ...rangeSizePx(range, cellPx),
  }
}

/** The cells that are on the screen, some of them beyond the world. */
function visibleCells({ widthPx, heightPx, cellPx, leftPx, topPx }: Frame): CellRange {
  const column = Math.max(0, Math.floor((-leftPx - 1) / cellPx))
  const row = Math.max(0, Math.floor((-topPx - 1) / cellPx))
  return {
    column,
    row,
    columns: Math.max(0, Math.ceil((widthPx - leftPx + 1) / cellPx) - column),
    rows: Math.max(0, Math.ceil((heightPx - topPx + 1) / cellPx) - row),
  }
}

/** A quarter of a screen more on every side. */
function around({ widthPx, heightPx, cellPx, leftPx, topPx }: Frame): Frame {
  const rightPx = Math.round(widthPx / 4)
  const downPx = Math.round(heightPx / 4)
  return {
    widthPx: widthPx + 2 * rightPx,
    heightPx: heightPx + 2 * downPx,
    cellPx,
    leftPx: leftPx + rightPx,
    topPx: topPx + downPx,
  }
}

function isWithinWorld({ widthPx, heightPx, cellPx, leftPx, topPx }: Frame, { columns, rows }: Ground) {
  const isAcross = leftPx <= 0 && leftPx + edgePx(columns, cellPx) >= widthPx
  return isAcross && topPx <= 0 && topPx + edgePx(rows, cellPx) >= heightPx
}

function sortedByDistance(
  ranges: CellRange[],
  { widthPx, heightPx, cellPx, leftPx, topPx }: Frame,
): CellRange[] {
  const middleColumn = (widthPx / 2 - leftPx) / cellPx
  const middleRow = (heightPx / 2 - topPx) / cellPx
  const distance = ({ column, row, columns, rows }: CellRange) =>
    Math.hypot(column + columns / 2 - middleColumn, row + rows / 2 - middleRow)
  return ranges.sort((a, b) => distance(a) - distance(b))
}

/** The cells in which two arrays differ; undefined where so many do that finding their pictures takes too long. */
function findDifferences(before: Uint8Array, after: Uint8Array): number[] | undefined {
  if (before.length !== after.length) return undefined
  const most = after.length / MOST_TOUCHED
  const cells: number[] = []
  for (let cell = 0; cell < after.length; cell++) {
    if (before[cell] !== after[cell] && cells.push(cell) > most) return undefined
  }
  return cells
}
