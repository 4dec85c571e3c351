import type { Bounds } from './camera.ts'
import type { Frame } from './ground-picture.ts'
import { areOverlapping, edgeTicks, type MapLabel, type PlacedLabel, placeLabels } from './label-placement.ts'
import type { MapPalette } from './map-palette.ts'
import type { Place } from './map-types.ts'

/** What the map says in letters. */
export interface MapLabels {
  readonly names: readonly MapLabel[]
  /** The lines on a parcel. @param zoom CSS pixels a parcel */
  linesOn(place: Place, zoom: number): readonly string[]
}

/** From this zoom on, in CSS pixels, parcels have lines of their own. */
export const CELL_LINES_ZOOM = 30

const FONT = 'system-ui, "Noto Sans", "Noto Sans KR", "Noto Sans SC", sans-serif'
const FONTS: Readonly<Record<MapLabel['kind'] | 'cell' | 'edge', string>> = {
  district: `600 13px ${FONT}`,
  plaza: `700 12px ${FONT}`,
  estate: `500 12px ${FONT}`,
  cell: `500 11px ${FONT}`,
  edge: `500 11px ${FONT}`,
}
const LINE_PX = 14
const HALO_PX = 2
/** The strips along the lower and the left edge that have the coordinates. */
const STRIP = { heightPx: 18, widthPx: 32, strength: 0.8 }
/** Letters that are ready to be drawn: as many as a large screen of close parcels needs, about 20 MB at most. */
const MOST_SPRITES = 1_500
/** New ones for a frame; the others come with the next frames. */
const MOST_NEW_SPRITES = 40

interface Sprite {
  readonly canvas: HTMLCanvasElement
  readonly width: number
  readonly height: number
}

/**
 * Writes on a canvas of its own over the land: coordinates on the edge, names, and lines on close parcels. Letters are painted once
 * and then copied: painting them costs ten times as much.
 */
export class LabelLayer {
  private readonly canvas: HTMLCanvasElement
  private readonly context: CanvasRenderingContext2D | null
  private palette: MapPalette
  private labels: MapLabels | undefined
  private bounds: Bounds | undefined
  private placed: readonly PlacedLabel[] = []
  private placedAt: number | undefined
  private pixelsPerPx = 1
  /** The one that was used last is the last one. */
  private readonly sprites = new Map<string, Sprite>()
  private newSprites = 0
  /** Measures text. Not on the page: there, each change of the font would compute styles. */
  private readonly ruler = document.createElement('canvas').getContext('2d')
  private ruledFont: keyof typeof FONTS | undefined
  private readonly widths = new Map<string, number>()

  constructor(canvas: HTMLCanvasElement, palette: MapPalette) {
    this.canvas = canvas
    this.context = canvas.getContext('2d')
    this.palette = palette
  }

  setLabels(labels: MapLabels | undefined): void {
    this.labels = labels
    this.placedAt = undefined
  }

  setBounds(bounds: Bounds): void {
    this.bounds = bounds
    this.placedAt = undefined
  }

  setPalette(palette: MapPalette): void {
    if (palette === this.palette) return
    this.palette = palette
    this.sprites.clear()
  }

  /** @returns whether some letters are still to be painted */
  draw(frame: Frame, pixelsPerPx: number): boolean {
    const { context, canvas, labels, bounds } = this
    if (!context || !labels || !bounds) return false
    if (canvas.width !== frame.widthPx || canvas.height !== frame.heightPx) {
      canvas.width = frame.widthPx
      canvas.height = frame.heightPx
    } else context.clearRect(0, 0, canvas.width, canvas.height)
    if (pixelsPerPx !== this.pixelsPerPx) this.sprites.clear()
    this.pixelsPerPx = pixelsPerPx
    this.newSprites = 0
    const zoom = frame.cellPx / pixelsPerPx
    this.place(zoom, bounds)
    const screen = {
      left: -frame.leftPx / pixelsPerPx,
      top: -frame.topPx / pixelsPerPx,
      width: frame.widthPx / pixelsPerPx,
      height: frame.heightPx / pixelsPerPx,
    }
    const visible = this.placed.filter((label) => areOverlapping(label, screen))
    if (zoom >= CELL_LINES_ZOOM) this.drawCells(labels, bounds, zoom, screen, visible)
    this.drawEdge(context, bounds, zoom, screen, visible)
    // The last ones: the strips of the edge would cut them.
    for (const { label, left, top, width, height } of visible) {
      const sprite = this.spriteOf([label.text], label.kind)
      if (sprite) this.copy(sprite, left + width / 2 - screen.left, top + height / 2 - screen.top)
    }
    canvas.dataset.names = String(visible.length)
    return this.newSprites > MOST_NEW_SPRITES
  }

  private place(zoom: number, bounds: Bounds): void {
    if (this.placedAt === zoom || !this.labels) return
    this.placedAt = zoom
    const measure = ({ text, kind }: MapLabel) => ({ width: this.widthOf(text, kind), height: LINE_PX })
    this.placed = placeLabels(this.labels.names, { zoom, bounds, measure })
  }

  private widthOf(text: string, font: keyof typeof FONTS): number {
    const name = `${font} ${text}`
    let width = this.widths.get(name)
    if (width === undefined && this.ruler) {
      if (this.ruledFont !== font) this.ruler.font = FONTS[font]
      this.ruledFont = font
      width = Math.ceil(this.ruler.measureText(text).width) + 2 * HALO_PX
      if (this.widths.size > 2 * MOST_SPRITES) this.widths.clear()
      this.widths.set(name, width)
    }
    return width ?? 0
  }

  /** The lines on parcels that have room for them, where no name is. */
  private drawCells(
    labels: MapLabels,
    bounds: Bounds,
    zoom: number,
    screen: { left: number; top: number; width: number; height: number },
    names: readonly PlacedLabel[],
  ): void {
    const columns = rangeOf(screen.left, screen.width, zoom, bounds.maxX - bounds.minX + 1)
    const rows = rangeOf(screen.top, screen.height, zoom, bounds.maxY - bounds.minY + 1)
    for (let column = columns.from; column < columns.end; column++) {
      for (let row = rows.from; row < rows.end; row++) {
        const lines = labels
          .linesOn({ x: bounds.minX + column, y: bounds.maxY - row }, zoom)
          .filter((line) => this.widthOf(line, 'cell') <= zoom)
        if (lines.length === 0) continue
        const height = lines.length * LINE_PX
        const box = { left: column * zoom, top: (row + 0.5) * zoom - height / 2, width: zoom, height }
        if (names.some((name) => areOverlapping(name, box))) continue
        const sprite = this.spriteOf(lines, 'cell')
        if (sprite) this.copy(sprite, (column + 0.5) * zoom - screen.left, (row + 0.5) * zoom - screen.top)
      }
    }
  }

  /** The strips, and the coordinates on them that no name covers. */
  private drawEdge(
    context: CanvasRenderingContext2D,
    { minX, minY, maxX, maxY }: Bounds,
    zoom: number,
    screen: { left: number; top: number; width: number; height: number },
    names: readonly PlacedLabel[],
  ): void {
    const ratio = this.pixelsPerPx
    const writeTick = (coordinate: number, across: number, down: number) => {
      const sprite = this.spriteOf([`${coordinate}`], 'edge')
      if (!sprite) return
      const { width, height } = sprite
      const box = {
        ...{ left: screen.left + across - width / 2, top: screen.top + down - height / 2 },
        ...{ width, height },
      }
      if (!names.some((name) => areOverlapping(name, box))) this.copy(sprite, across, down)
    }
    context.globalAlpha = STRIP.strength
    context.fillStyle = this.palette.halo
    context.fillRect(0, 0, STRIP.widthPx * ratio, this.canvas.height)
    context.fillRect(
      STRIP.widthPx * ratio,
      (screen.height - STRIP.heightPx) * ratio,
      this.canvas.width,
      STRIP.heightPx * ratio,
    )
    context.globalAlpha = 1
    const columns = rangeOf(screen.left, screen.width, zoom, maxX - minX + 1)
    for (const x of edgeTicks(minX + columns.from, minX + columns.end - 1, zoom)) {
      const across = (x - minX + 0.5) * zoom - screen.left
      if (across > STRIP.widthPx) writeTick(x, across, screen.height - STRIP.heightPx / 2)
    }
    const rows = rangeOf(screen.top, screen.height, zoom, maxY - minY + 1)
    for (const y of edgeTicks(maxY - rows.end + 1, maxY - rows.from, zoom)) {
      const down = (maxY - y + 0.5) * zoom - screen.top
      if (down < screen.height - STRIP.heightPx) writeTick(y, STRIP.widthPx / 2, down)
    }
  }

  /** @param across of its middle, in CSS pixels of the screen, like `down` */
  private copy({ canvas, width, height }: Sprite, across: number, down: number): void {
    const ratio = this.pixelsPerPx
    // Whole pixels: letters between pixels are blurred.
    this.context?.drawImage(
      canvas,
      Math.round((across - width / 2) * ratio),
      Math.round((down - height / 2) * ratio),
    )
  }

  private spriteOf(lines: readonly string[], font: keyof typeof FONTS): Sprite | undefined {
    const name = `${font} ${lines.join('\n')}`
    const known = this.sprites.get(name)
    if (known) {
      this.sprites.delete(name)
      this.sprites.set(name, known)
      return known
    }
    if (++this.newSprites > MOST_NEW_SPRITES) return undefined
    const sprite = this.paint(lines, font)
    const [oldest] = this.sprites.keys()
    if (this.sprites.size >= MOST_SPRITES && oldest !== undefined) this.sprites.delete(oldest)
    this.sprites.set(name, sprite)
    return sprite
  }

  private paint(lines: readonly string[], font: keyof typeof FONTS): Sprite {
    const ratio = this.pixelsPerPx
    const width = Math.max(...lines.map((line) => this.widthOf(line, font)))
    const height = lines.length * LINE_PX + 2 * HALO_PX
    const canvas = document.createElement('canvas')
    canvas.width = Math.ceil(width * ratio)
    canvas.height = Math.ceil(height * ratio)
    const context = canvas.getContext('2d')
    if (context) {
      context.scale(ratio, ratio)
      context.font = FONTS[font]
      context.textAlign = 'center'
      context.textBaseline = 'middle'
      context.lineJoin = 'round'
      context.lineWidth = 2 * HALO_PX
      context.strokeStyle = this.palette.halo
      context.fillStyle = this.palette.cursor
      const down = (line: number) => HALO_PX + (line + 0.5) * LINE_PX
      // All halos before all letters: that of a line would cut into the line above it. The edge has a ground of its own.
      if (font !== 'edge')
        for (const [i, line] of lines.entries()) context.strokeText(line, width / 2, down(i))
      for (const [i, line] of lines.entries()) context.fillText(line, width / 2, down(i))
    }
    return { canvas, width, height }
  }
}

/** The cells of a row or column that are on the screen. */
function rangeOf(start: number, length: number, zoom: number, count: number) {
  const from = Math.max(0, Math.floor(start / zoom))
  return { from, end: Math.min(count, Math.ceil((start + length) / zoom)) }
}
