import {
  allowedView,
  allowedZoom,
  type Bounds,
  isInWorld,
  isOnScreen,
  nearestParcel,
  nextZoom,
  panned,
  parcelOf,
  placeAt,
  type ScreenSize,
  type Spot,
  spotOf,
  wholeWorld,
  withInSight,
  zoomedAbout,
} from './camera.ts'
import type { Place, View } from './map-types.ts'
import { type Motion, moved } from './motion.ts'

/**
 * Where the map looks, and how it gets there: pure but for the times that it is told.
 *
 * The view is undefined until there are a screen and a world; then it is the whole world, or what was wished meanwhile.
 * It is always one that `allowedView` allows.
 */

export interface SteeringOptions {
  /** Something has to be painted anew. */
  changed(): void
  nowMs(): number
}

/** How the map gets to a view: on a short flight, or at once for those who want things to stay where they are. */
export interface Going {
  readonly isSudden: boolean
}

/** After a pause the first frame has no frame before it. */
const LONGEST_FRAME_MS = 50
/** The cursor stays so far from the edges, in CSS pixels. */
const CURSOR_MARGIN_PX = 72

export class Steering {
  private readonly options: SteeringOptions
  private size: ScreenSize = { widthPx: 0, heightPx: 0 }
  private pixelsPerPx = 1
  private bounds: Bounds | undefined
  private current: View | undefined
  private motion: Motion | undefined
  private isPinching = false
  private lastMs = 0

  constructor(options: SteeringOptions) {
    this.options = options
  }

  get view(): View | undefined {
    return this.current
  }

  /** The map will be elsewhere in the next frame. */
  get isMoving(): boolean {
    return this.motion !== undefined
  }

  /** The zoom will be another in the next frame, as far as one can tell. */
  get isZooming(): boolean {
    const { motion } = this
    if (motion?.kind === 'flight') return motion.from.zoom !== motion.to.zoom
    return this.isPinching || motion?.kind === 'approach'
  }

  /** The map is on its way to a view that it was told to show. */
  get isFlying(): boolean {
    return this.motion?.kind === 'flight'
  }

  /** @param pixelsPerPx of the screen's own pixels for a CSS pixel */
  resize(size: ScreenSize, pixelsPerPx: number): void {
    // Who sees the whole world goes on seeing it.
    const showsWhole = this.current !== undefined && isSame(this.current, this.whole())
    this.size = size
    this.pixelsPerPx = pixelsPerPx
    this.current = showsWhole ? this.whole() : this.allowed(this.current)
  }

  setBounds(bounds: Bounds): void {
    this.bounds = bounds
    this.current = this.allowed(this.current)
  }

  /** Lets what moves by itself go on to a time. */
  goOn(nowMs: number): void {
    const passedMs = Math.min(LONGEST_FRAME_MS, Math.max(0, nowMs - this.lastMs))
    this.lastMs = nowMs
    if (!this.motion || !this.current) return
    const { view, motion } = moved(this.motion, this.current, this.size, { nowMs, passedMs })
    this.current = this.allowed(view)
    this.motion = motion
  }

  /** Shows a view; undefined: the whole world. */
  show(wanted: View | undefined, { isSudden }: Going): void {
    const to = wanted ? this.allowed(wanted) : this.whole()
    this.isPinching = false
    if (isSudden || !this.current || !to || !this.isReady()) {
      this.motion = undefined
      this.current = to
    } else {
      this.motion = { kind: 'flight', from: this.current, to, startMs: this.options.nowMs() }
    }
    this.options.changed()
  }

  /** Somebody took hold of the map. */
  hold(): void {
    if (!this.motion) return
    this.motion = undefined
    this.options.changed()
  }

  push(rightPx: number, downPx: number): void {
    if (this.current) this.moveTo(panned(this.current, rightPx, downPx))
  }

  glide(rightPxPerMs: number, downPxPerMs: number): void {
    this.motion = { kind: 'glide', rightPxPerMs, downPxPerMs }
    this.options.changed()
  }

  pinch(factor: number, spot: Spot): void {
    if (!this.current) return
    this.motion = undefined
    this.isPinching = true
    this.moveTo(zoomedAbout(this.current, this.size, spot, this.zoomTimes(this.current.zoom, factor)))
  }

  pinchEnded(): void {
    this.isPinching = false
    this.options.changed()
  }

  /** So much closer about a spot; calls in a row add up. */
  approach(factor: number, spot: Spot, { isSudden }: Going): void {
    if (!this.current) return
    const from = this.motion?.kind === 'approach' ? this.motion.zoom : this.current.zoom
    const zoom = this.zoomTimes(from, factor)
    if (isSudden) this.moveTo(zoomedAbout(this.current, this.size, spot, zoom))
    else {
      this.motion = { kind: 'approach', spot, zoom }
      this.options.changed()
    }
  }

  /** One step closer or further away, about a spot; several in a row add up. */
  step(direction: 'in' | 'out', spot: Spot, going: Going): void {
    if (!this.current) return
    const from = this.motion?.kind === 'flight' ? this.motion.to : this.current
    const next = nextZoom(from.zoom, direction, this.pixelsPerPx)
    this.show(zoomedAbout(from, this.size, spot, this.zoomTimes(next, 1)), going)
  }

  /** Moves just so far that a parcel is well on the screen. */
  bringIntoSight(place: Place): void {
    const from = this.motion?.kind === 'flight' ? this.motion.to : this.current
    if (!from) return
    this.motion = undefined
    this.moveTo(withInSight(from, this.size, place, CURSOR_MARGIN_PX))
  }

  /** The parcel of the world at a spot; undefined beyond the world. */
  parcelAt(spot: Spot): Place | undefined {
    if (!this.current || !this.bounds) return undefined
    const place = parcelOf(placeAt(this.current, this.size, spot))
    return isInWorld(this.bounds, place) ? place : undefined
  }

  /** The parcel of the world that is nearest to a spot. */
  nearestTo(spot: Spot): Place | undefined {
    return this.current && this.nearest(placeAt(this.current, this.size, spot))
  }

  /** The parcel of the world that is nearest to a place. */
  nearest(place: Place): Place {
    return this.bounds ? nearestParcel(this.bounds, place) : place
  }

  middle(): Spot {
    return { xPx: this.size.widthPx / 2, yPx: this.size.heightPx / 2 }
  }

  /** Where a place is; undefined beyond the screen. */
  findSpot(place: Place): Spot | undefined {
    const { current, size } = this
    return current && isOnScreen(current, size, place) ? spotOf(current, size, place) : undefined
  }

  private isReady(): boolean {
    return this.bounds !== undefined && this.size.widthPx > 0
  }

  private whole(): View | undefined {
    return this.bounds && this.isReady() ? wholeWorld(this.size, this.bounds) : undefined
  }

  /** The nearest allowed view; without one the whole world. Before there is either, the wish is kept. */
  private allowed(view: View | undefined): View | undefined {
    if (!this.bounds || !this.isReady()) return view
    return view ? allowedView(view, this.size, this.bounds) : this.whole()
  }

  private zoomTimes(zoom: number, factor: number): number {
    return this.bounds ? allowedZoom(zoom * factor, this.size, this.bounds) : zoom
  }

  private moveTo(view: View): void {
    this.current = this.allowed(view)
    this.options.changed()
  }
}

function isSame(a: View, b: View | undefined): boolean {
  return b !== undefined && a.x === b.x && a.y === b.y && a.zoom === b.zoom
}
