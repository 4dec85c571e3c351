import { text } from '../texts/texts.ts'
import type { Spot } from './camera.ts'
import type { MapEngine } from './map-engine.ts'
import { type KeyEvents, type Keys, listenToKeys } from './map-keys.ts'
import type { MapParts, Pointed } from './map-parts.ts'
import { listenToPointers, type PointerEvents, type Pointers } from './map-pointers.ts'
import type { Place } from './map-types.ts'
import { wheelFactor } from './wheel.ts'

/** Whether the reader prefers reduced motion. */
export function prefersReducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}

/** How long the hint about zooming is shown after a wheel that scrolled the page. */
const HINT_MS = 1_500

/** Translates the reader's input into movements of the map and events for the page. */
export class MapReader {
  private readonly engine: MapEngine
  private readonly parts: MapParts
  private readonly keys: Keys
  private readonly pointers: Pointers
  /** The parcel that was chosen last, where the arrow keys start. */
  private chosen: Place | undefined
  /** The cursor of the arrow keys, while it is shown. */
  private cursor: Place | undefined
  private hintTimer: number | undefined

  constructor(engine: MapEngine, parts: MapParts) {
    this.engine = engine
    this.parts = parts
    this.keys = listenToKeys(parts.canvas, this.keyEvents())
    this.pointers = listenToPointers(parts.canvas, this.pointerEvents())
  }

  end(): void {
    this.keys.end()
    this.pointers.end()
    window.clearTimeout(this.hintTimer)
  }

  private keyEvents(): KeyEvents {
    const { parts } = this
    const { steering } = this.engine
    return {
      isDrawing: () => this.isDrawing(),
      firstPlace: () => this.firstPlace(),
      nearest: (place) => steering.nearest(place),
      moveCursor: (place, corner) => this.moveCursor(place, corner),
      markCorner: (corner) => {
        parts.said.value = text('map.corner', { place: placeText(corner) })
      },
      pick: (place) => this.pick(place),
      draw: (from, to) => parts.props().onDraw?.(from, to),
      zoom: (direction) => steering.step(direction, this.cursorSpot(), { isSudden: prefersReducedMotion() }),
      showWhole: () => steering.show(undefined, { isSudden: prefersReducedMotion() }),
      giveUp: () => this.pointers.cancel(),
    }
  }

  private pointerEvents(): PointerEvents {
    const { steering } = this.engine
    return {
      isDrawing: () => this.isDrawing(),
      isScrolling: () => this.parts.props().finger === 'scroll',
      isPushKeyHeld: () => this.keys.isSpaceHeld(),
      hold: () => this.hold(),
      push: (rightPx, downPx) => steering.push(rightPx, downPx),
      glide: (right, down) => {
        if (!prefersReducedMotion()) steering.glide(right, down)
      },
      pinch: (factor, spot) => steering.pinch(factor, spot),
      pinchEnded: () => steering.pinchEnded(),
      pick: (spot) => this.pick(steering.parcelAt(spot)),
      zoomIn: (spot) => steering.step('in', spot, { isSudden: prefersReducedMotion() }),
      draft: (corners) => this.engine.showDraft(corners && this.rectangle(...corners)),
      draw: (from, to) => this.draw(from, to),
      turn: (turn, spot) => this.turn(turn, spot),
      point: (spot) => this.point(spot && steering.parcelAt(spot), spot && { spot, by: 'pointer' }),
      look: (spot) => this.point(steering.parcelAt(spot), { spot, by: 'pointer' }),
    }
  }

  private isDrawing(): boolean {
    return this.parts.props().mode === 'draw'
  }

  private firstPlace(): Place | undefined {
    const { chosen } = this
    const { steering } = this.engine
    return chosen && steering.findSpot(chosen) ? chosen : steering.nearestTo(steering.middle())
  }

  /** The spot about which keys zoom. */
  private cursorSpot(): Spot {
    const { steering } = this.engine
    return (this.cursor && steering.findSpot(this.cursor)) ?? steering.middle()
  }

  private moveCursor(place: Place, corner: Place | undefined): void {
    const { engine, parts } = this
    this.cursor = place
    engine.steering.bringIntoSight(place)
    engine.showCursor(place)
    engine.showDraft(corner && [corner, place])
    const spot = engine.steering.findSpot(place)
    this.point(place, spot && { spot, by: 'key' })
    parts.said.value = parts.props().describe?.(place) ?? text('map.cursor', { place: placeText(place) })
  }

  private turn(turn: WheelEvent, spot: Spot): boolean {
    const { parts } = this
    if (parts.props().finger && !turn.ctrlKey && !turn.metaKey) {
      parts.isHinting.value = true
      window.clearTimeout(this.hintTimer)
      this.hintTimer = window.setTimeout(() => {
        parts.isHinting.value = false
      }, HINT_MS)
      return false
    }
    parts.isHinting.value = false
    this.engine.steering.approach(wheelFactor(turn), spot, { isSudden: prefersReducedMotion() })
    return true
  }

  /** Pointer input hides the cursor of the arrow keys and cancels the rectangle that it began. */
  private hold(): void {
    this.engine.steering.hold()
    this.parts.props().onPoint?.(undefined)
    this.cursor = undefined
    this.engine.showCursor(undefined)
    this.engine.showDraft(undefined)
    this.keys.hideCursor()
  }

  private pick(place: Place | undefined): void {
    if (!place) return
    this.chosen = place
    this.parts.canvas.dataset.chosen = placeText(place)
    this.parts.props().onPick(place)
  }

  private rectangle(from: Spot, to: Spot): readonly [Place, Place] | undefined {
    const first = this.engine.steering.nearestTo(from)
    const last = this.engine.steering.nearestTo(to)
    return first && last && [first, last]
  }

  private draw(from: Spot, to: Spot): void {
    const corners = this.rectangle(from, to)
    if (corners) this.parts.props().onDraw?.(...corners)
  }

  private point(place: Place | undefined, where?: Pick<Pointed, 'spot' | 'by'>): void {
    this.parts.pointed.value = place ? placeText(place) : ''
    this.parts.props().onPoint?.(place && where && { place, ...where })
  }
}

function placeText({ x, y }: Place): string {
  return `${x},${y}`
}
