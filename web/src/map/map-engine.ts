import type { Bounds, ScreenSize } from './camera.ts'
import type { Ground } from './cell-painter.ts'
import { type Frame, GroundPicture } from './ground-picture.ts'
import type { LabelLayer, MapLabels } from './label-layer.ts'
import type { MapPalette } from './map-palette.ts'
import type { LayerInks, Place, View } from './map-types.ts'
import { type BoxPx, clipToBoxes, drawDots, drawOutline, litBoxes, tintBoxes } from './marks.ts'
import { type Outline, outlineOf } from './outline.ts'
import { Steering } from './steering.ts'

/**
 * The map on its canvas: paints when something has changed, at most once for each frame of the screen. Nothing runs
 * while nothing changes.
 *
 * Order of a frame: running motions advance (`steering.ts`); missing sharp parts are painted, for a few milliseconds;
 * everything is drawn on the canvas: land (`ground-picture.ts`), then highlighted cells, then outlines (`marks.ts`); then
 * the letters on their own canvas (`label-layer.ts`).
 * While the zoom changes nothing is painted: cached pictures are scaled, and painted sharp when the zoom rests.
 */

/** The world as the map needs it. */
export interface World extends Ground {
  readonly bounds: Bounds
}

export interface EngineEvents {
  /** The reader or a motion moved the map. During a flight to a requested view only its end is reported. */
  moved(view: View): void
}

/** Time for painting in a frame: a third of it, so that two thirds are left for the rest of the page. */
const PAINTING_MS = 5
const PULSE_MS = 2000
const PULSE_STRENGTH = 0.75
/** Between two frames in which only what lights up changes: a fade needs no more. */
const PULSE_FRAME_MS = 50
/** With more changed cells than this no cell lights up: it is an import, not a single change. */
const MOST_PULSES = 2_000
/** For tests and measurements: when all of the map has been painted for the first time. */
const PAINTED_MARK = 'landpass-map-painted'

interface Pulse {
  readonly cells: Uint32Array
  readonly startMs: number
}

export class MapEngine {
  readonly steering: Steering
  private readonly canvas: HTMLCanvasElement
  private readonly context: CanvasRenderingContext2D | null
  private readonly events: EngineEvents
  private readonly letters: LabelLayer | undefined
  private palette: MapPalette
  private pixelsPerPx = 1
  private world: World | undefined
  private picture: GroundPicture | undefined
  private inks: LayerInks | undefined
  private selectedCells: Uint32Array = new Uint32Array(0)
  private selected: Outline | undefined
  private markedCells: Uint32Array = new Uint32Array(0)
  private cursor: Outline | undefined
  private draft: Outline | undefined
  private pulses: Pulse[] = []
  private request: number | undefined
  /** All of the canvas has to be drawn again; while something lights up, its parts are drawn in any case. */
  private isDirty = false
  private pulsedAtMs = Number.NEGATIVE_INFINITY
  private paints = 0
  private wholePaints = 0
  private wasPainted = false

  /** @param letters writes over the land; undefined for a map without letters */
  constructor(
    canvas: HTMLCanvasElement,
    {
      palette,
      letters,
      ...events
    }: EngineEvents & {
      readonly palette: MapPalette
      readonly letters: LabelLayer | undefined
    },
  ) {
    this.canvas = canvas
    this.letters = letters
    // Opaque: saves the browser blending it with what is below.
    this.context = canvas.getContext('2d', { alpha: false })
    this.palette = palette
    if (this.context) this.drawGround(this.context)
    this.events = events
    this.steering = new Steering({ changed: () => this.wake(), nowMs: () => performance.now() })
  }

  end(): void {
    if (this.request !== undefined) cancelAnimationFrame(this.request)
    this.request = undefined
  }

  /** @param pixels the canvas on the screen, in the screen's own pixels */
  resize(pixels: ScreenSize, pixelsPerPx: number): void {
    const { canvas } = this
    const isSame = canvas.width === pixels.widthPx && canvas.height === pixels.heightPx
    if (isSame && this.pixelsPerPx === pixelsPerPx) return
    const size = { widthPx: pixels.widthPx / pixelsPerPx, heightPx: pixels.heightPx / pixelsPerPx }
    this.steering.resize(size, pixelsPerPx)
    this.pixelsPerPx = pixelsPerPx
    canvas.width = pixels.widthPx
    canvas.height = pixels.heightPx
    this.isDirty = true
    // Resizing has cleared the canvas, and the browser is about to show it.
    this.paintFrame(performance.now())
  }

  setWorld(world: World): void {
    this.world = world
    this.picture = new GroundPicture({ ...world, inks: this.inks }, this.palette)
    this.steering.setBounds(world.bounds)
    this.letters?.setBounds(world.bounds)
    this.cursor = undefined
    this.draft = undefined
    this.setSelected(this.selectedCells)
    this.wake()
  }

  setPalette(palette: MapPalette): void {
    this.palette = palette
    this.picture?.setPalette(palette)
    this.letters?.setPalette(palette)
    this.wake()
  }

  setInks(inks: LayerInks | undefined): void {
    if (inks === this.inks) return
    this.inks = inks
    this.picture?.setInks(inks)
    this.wake()
  }

  setLabels(labels: MapLabels | undefined): void {
    this.letters?.setLabels(labels)
    this.wake()
  }

  setSelected(cells: Uint32Array): void {
    this.selectedCells = cells
    const outline = this.world && cells.length > 0 ? outlineOf(cells, this.world.rows) : undefined
    if (!outline && !this.selected) return
    this.selected = outline
    this.wake()
  }

  setMarked(cells: Uint32Array): void {
    this.markedCells = cells
    this.wake()
  }

  /** These cells of the world have changed. @param pulse lets them light up */
  changed(cells: Uint32Array, { pulse }: { readonly pulse: boolean }): void {
    this.picture?.touch(cells)
    if (pulse && cells.length <= MOST_PULSES) this.pulses.push({ cells, startMs: performance.now() })
    this.wake()
  }

  /** The parcel that the arrow keys move to; undefined hides it. */
  showCursor(place: Place | undefined): void {
    if (!place && !this.cursor) return
    this.cursor = place && this.outlineOfRectangle(place, place)
    this.wake()
  }

  /** The rectangle that is being drawn, by two opposite corners. */
  showDraft(corners: readonly [Place, Place] | undefined): void {
    if (!corners && !this.draft) return
    this.draft = corners && this.outlineOfRectangle(...corners)
    this.wake()
  }

  private outlineOfRectangle(a: Place, b: Place): Outline | undefined {
    if (!this.world) return undefined
    const { minX, maxY } = this.world.bounds
    const west = Math.min(a.x, b.x) - minX
    const east = Math.max(a.x, b.x) - minX + 1
    const north = maxY - Math.max(a.y, b.y)
    const south = maxY - Math.min(a.y, b.y) + 1
    return {
      horizontal: Int32Array.of(north, west, east, south, west, east),
      vertical: Int32Array.of(west, north, south, east, north, south),
      box: { west, north, east, south },
    }
  }

  private wake(): void {
    this.isDirty = true
    this.nextFrame()
  }

  private nextFrame(): void {
    this.request ??= requestAnimationFrame((nowMs) => {
      this.request = undefined
      this.paintFrame(nowMs)
    })
  }

  private paintFrame(nowMs: number): void {
    const { context, picture, steering } = this
    steering.goOn(nowMs)
    const frame = this.frame()
    if (!context) return
    if (!picture || !frame) {
      this.drawGround(context)
      return
    }
    this.tellMoved()
    const painted = steering.isZooming
      ? { onScreen: false, isMore: false }
      : picture.paint(frame, performance.now() + PAINTING_MS)
    let areLettersMissing = false
    const lit = this.pulses
    this.pulses = lit.filter(({ startMs }) => nowMs - startMs < PULSE_MS)
    if (this.isDirty || painted.onScreen) {
      this.wholePaints++
      this.draw(context, picture, frame, nowMs)
      areLettersMissing = this.letters?.draw(frame, this.pixelsPerPx) ?? false
      this.reportPainted(picture.isSharp(frame))
    } else if (lit.length > this.pulses.length || nowMs - this.pulsedAtMs >= PULSE_FRAME_MS)
      this.drawLit(context, picture, frame, lit, nowMs)
    this.isDirty = steering.isMoving || areLettersMissing
    if (this.isDirty || this.pulses.length > 0 || painted.isMore) this.nextFrame()
  }

  /** Draws only what lights up, and for the last time what has faded: the rest of the canvas stays as it is. */
  private drawLit(
    context: CanvasRenderingContext2D,
    picture: GroundPicture,
    frame: Frame,
    lit: readonly Pulse[],
    nowMs: number,
  ): void {
    const boxes = lit.flatMap((pulse) => this.boxesOf(pulse, frame))
    if (boxes.length === 0) return
    context.save()
    clipToBoxes(context, boxes)
    this.draw(context, picture, frame, nowMs)
    context.restore()
    this.reportPainted(picture.isSharp(frame))
  }

  private boxesOf({ cells: numbers }: Pulse, frame: Frame): BoxPx[] {
    return litBoxes(frame, { numbers, rows: this.world?.rows ?? 1 }, this.pixelsPerPx)
  }

  private frame(): Frame | undefined {
    const { world, canvas } = this
    const { view } = this.steering
    if (!view || !world || canvas.width === 0) return undefined
    const cellPx = view.zoom * this.pixelsPerPx
    const { minX, maxY } = world.bounds
    return {
      widthPx: canvas.width,
      heightPx: canvas.height,
      cellPx,
      leftPx: Math.round(canvas.width / 2 - (view.x - minX + 0.5) * cellPx),
      topPx: Math.round(canvas.height / 2 - (maxY - view.y + 0.5) * cellPx),
    }
  }

  /** Fills the canvas while there is no world: empty, an opaque canvas is black in either theme. */
  private drawGround(context: CanvasRenderingContext2D): void {
    context.fillStyle = this.palette.kinds[0]
    context.fillRect(0, 0, this.canvas.width, this.canvas.height)
  }

  private draw(context: CanvasRenderingContext2D, picture: GroundPicture, frame: Frame, nowMs: number): void {
    picture.draw(context, frame)
    this.pulsedAtMs = nowMs
    for (const pulse of this.pulses) {
      const strength = PULSE_STRENGTH * Math.min(1, 1 - (nowMs - pulse.startMs) / PULSE_MS)
      tintBoxes(context, this.boxesOf(pulse, frame), { colour: this.palette.pulse, strength })
    }
    const { halo, selected, cursor } = this.palette
    const { pixelsPerPx } = this
    const marked = { numbers: this.markedCells, rows: this.world?.rows ?? 1 }
    drawDots(context, frame, marked, { line: selected, halo, pixelsPerPx })
    if (this.selected) drawOutline(context, frame, this.selected, { line: selected, halo, pixelsPerPx })
    if (this.draft) drawOutline(context, frame, this.draft, { line: selected, halo, pixelsPerPx })
    if (this.cursor) drawOutline(context, frame, this.cursor, { line: cursor, halo, pixelsPerPx })
  }

  private tellMoved(): void {
    const { view, isFlying } = this.steering
    // The end of a flight is known already. A page that received the views on the way would take them for input of the
    // reader.
    if (view && !isFlying) this.events.moved(view)
  }

  /** Writes what is shown to the canvas' data attributes, for tests and measurements. */
  private reportPainted(isSharp: boolean): void {
    const { dataset } = this.canvas
    const { view } = this.steering
    dataset.paints = String(++this.paints)
    dataset.wholePaints = String(this.wholePaints)
    dataset.lit = String(this.pulses.length > 0)
    dataset.picture = isSharp ? 'sharp' : 'coarse'
    if (view) dataset.view = `${view.x},${view.y},${view.zoom}`
    if (!isSharp || this.wasPainted) return
    this.wasPainted = true
    performance.mark(PAINTED_MARK)
  }
}
