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
 * The view of the map and its motions. Pure, apart from the clock that it is given.
 *
 * The view is undefined until screen size and world are known. Then it is the whole world, or the view that was
 * requested meanwhile. It is always within the limits of `allowedView`.
 */

export interface SteeringOptions {
  /** Something has to be painted anew. */
  changed(): void
  nowMs(): number
}

/** How the map gets to a view: by a short flight, or at once for readers who prefer reduced motion. */
export interface Going {
  readonly isSudden: boolean
}

/** Limit for the time since the previous frame, for the first frame after a pause. */
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

  /** Whether a motion is running. */
  get isMoving(): boolean {
    return this.motion !== undefined
  }

  /** Whether the zoom is likely to change in the next frame. */
  get isZooming(): boolean {
    const { motion } = this
    if (motion?.kind === 'flight') return motion.from.zoom !== motion.to.zoom
    return this.isPinching || motion?.kind === 'approach'
  }

  /** Whether the map is flying to a requested view. */
  get isFlying(): boolean {
    return this.motion?.kind === 'flight'
  }

  /** @param pixelsPerPx of the screen's own pixels for a CSS pixel */
  resize(size: ScreenSize, pixelsPerPx: number): void {
    // A map that showed the whole world still shows all of it after a change of size.
    const showsWhole = this.current !== undefined && isSame(this.current, this.whole())
    this.size = size
    this.pixelsPerPx = pixelsPerPx
    this.current = showsWhole ? this.whole() : this.allowed(this.current)
  }

  setBounds(bounds: Bounds): void {
    this.bounds = bounds
    this.current = this.allowed(this.current)
  }

  /** Advances the running motion to a time. */
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

  /** A contact began: the running motion stops. */
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

  /** Zooms by a factor about a spot; the factors of successive calls multiply. */
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

  /** Zooms one step in or out about a spot; successive calls add up. */
  step(direction: 'in' | 'out', spot: Spot, going: Going): void {
    if (!this.current) return
    const from = this.motion?.kind === 'flight' ? this.motion.to : this.current
    const next = nextZoom(from.zoom, direction, this.pixelsPerPx)
    this.show(zoomedAbout(from, this.size, spot, this.zoomTimes(next, 1)), going)
  }

  /** Moves as little as needed to show a parcel at some distance from the edges. */
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

  /**
   * The nearest allowed view; the whole world if there is none. Before screen and world are known, the view is returned
   * unchanged.
   */
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
