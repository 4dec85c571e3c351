import type { Spot } from './camera.ts'

/**
 * What fingers, mouse and pen mean, without a browser: contacts in, meanings out.
 *
 *   none ──down──▶ pressed ──moved far──▶ pushing ──up──▶ none      the picture follows; then it glides on
 *                    │  │                    ▲ │
 *                    │  │                    │ └──2nd down──▶ pinching ──one up──▶ pushing
 *                    │  └──moved far, if dragging draws──▶ drawing ──up──▶ none
 *                    ├──up──▶ none           a tap: picks; a second one soon after zooms in
 *                    └──rested (a finger)──▶ left   a long press: looks, and its end picks nothing
 *
 * A second contact cancels a drawing: two fingers always move the map. Where one finger scrolls the page, its drag is
 * ignored until a second finger comes.
 */

export interface Contact extends Spot {
  readonly id: number
  readonly timeMs: number
  /** Fingers tremble more than a mouse does. */
  readonly isFinger: boolean
}

export interface ContactStart extends Contact {
  /** This drag moves the map even where dragging draws: the space bar is held, or it is the middle button. */
  readonly isPush: boolean
}

export interface Meanings {
  /** Whether dragging draws a rectangle. */
  readonly isDrawing: () => boolean
  /** Whether dragging with one finger scrolls the page that the map is a part of. */
  readonly isScrolling: () => boolean
  /** A contact began: motions of the map stop. */
  hold(): void
  push(rightPx: number, downPx: number): void
  /** The contact ended while moving, at this speed. */
  glide(rightPxPerMs: number, downPxPerMs: number): void
  /** The zoom changes by this factor about a spot. */
  pinch(factor: number, spot: Spot): void
  pinchEnded(): void
  pick(spot: Spot): void
  /** A finger rests on a spot. */
  look(spot: Spot): void
  zoomIn(spot: Spot): void
  /** A rectangle is being drawn; undefined when it is given up. */
  draft(corners: readonly [Spot, Spot] | undefined): void
  draw(from: Spot, to: Spot): void
}

type State = 'none' | 'pressed' | 'pushing' | 'pinching' | 'drawing' | 'left'

const STILL_PX = { finger: 9, mouse: 4 }
const DOUBLE_TAP_MS = 320
const DOUBLE_TAP_PX = 28
/** The speed of a push is measured over this last time; after a rest before the release the map does not glide. */
const SPEED_OVER_MS = 90
const LEAST_GLIDE_PX_PER_MS = 0.12

export class Gestures {
  private readonly means: Meanings
  private state: State = 'none'
  private start: ContactStart | undefined
  private readonly contacts = new Map<number, Contact>()
  private trail: Contact[] = []
  private lastTap: Contact | undefined

  constructor(means: Meanings) {
    this.means = means
  }

  down(contact: ContactStart): void {
    if (this.contacts.size >= 2) return // a third finger changes nothing
    this.means.hold()
    this.contacts.set(contact.id, contact)
    if (this.contacts.size === 2) {
      if (this.state === 'drawing') this.means.draft(undefined)
      this.state = 'pinching'
      return
    }
    this.start = contact
    this.trail = [contact]
    this.state = 'pressed'
  }

  move(contact: Contact): void {
    const before = this.contacts.get(contact.id)
    if (!before) return
    if (this.state === 'pinching') this.pinch(before, contact)
    this.contacts.set(contact.id, contact)
    if (this.state === 'pressed' && this.isFar(contact)) this.begin(contact)
    if (this.state === 'pushing') {
      // From the last reported spot: this includes the small distance that was ignored before the push was recognised.
      const last = this.trail.at(-1) ?? before
      this.means.push(contact.xPx - last.xPx, contact.yPx - last.yPx)
      this.trail = [...this.trail.filter(({ timeMs }) => timeMs > contact.timeMs - SPEED_OVER_MS), contact]
    } else if (this.state === 'drawing' && this.start) this.means.draft([this.start, contact])
  }

  up(contact: Contact): void {
    if (!this.contacts.has(contact.id)) return
    this.move(contact)
    this.contacts.delete(contact.id)
    if (this.state === 'pinching') this.goOnWithOne()
    else if (this.state === 'pressed') this.tap(contact)
    else if (this.state === 'pushing') this.letGo(contact)
    else if (this.state === 'drawing' && this.start) {
      this.means.draft(undefined)
      this.means.draw(this.start, contact)
    }
    if (this.contacts.size === 0) this.state = 'none'
  }

  /** Some time has passed since the last contact began. */
  rested(): void {
    if (this.state !== 'pressed' || !this.start?.isFinger || this.means.isDrawing()) return
    this.state = 'left'
    this.means.look(this.start)
  }

  /** The browser cancelled the contact, or the reader pressed Escape. */
  cancel(): void {
    if (this.state === 'drawing') this.means.draft(undefined)
    if (this.state === 'pinching') this.means.pinchEnded()
    this.contacts.clear()
    this.state = 'none'
  }

  private isFar({ xPx, yPx, isFinger }: Contact): boolean {
    const { start } = this
    const still = isFinger ? STILL_PX.finger : STILL_PX.mouse
    return start !== undefined && Math.hypot(xPx - start.xPx, yPx - start.yPx) > still
  }

  private begin({ isFinger }: Contact): void {
    if (isFinger && this.means.isScrolling()) this.state = 'left'
    else this.state = this.means.isDrawing() && !this.start?.isPush ? 'drawing' : 'pushing'
  }

  private pinch(before: Contact, after: Contact): void {
    const other = [...this.contacts.values()].find(({ id }) => id !== after.id)
    if (!other) return
    const middleBefore = middleOf(before, other)
    const middle = middleOf(after, other)
    this.means.push(middle.xPx - middleBefore.xPx, middle.yPx - middleBefore.yPx)
    this.means.pinch(distance(after, other) / Math.max(1, distance(before, other)), middle)
  }

  /** The remaining finger goes on moving the map, unless one finger scrolls the page. */
  private goOnWithOne(): void {
    this.means.pinchEnded()
    const [last] = this.contacts.values()
    this.state = last?.isFinger && this.means.isScrolling() ? 'left' : 'pushing'
    this.trail = last ? [last] : []
  }

  private tap(contact: Contact): void {
    const { lastTap, means } = this
    this.lastTap = contact
    const isSecond =
      lastTap !== undefined &&
      contact.timeMs - lastTap.timeMs < DOUBLE_TAP_MS &&
      distance(contact, lastTap) < DOUBLE_TAP_PX
    if (isSecond && !means.isDrawing()) {
      this.lastTap = undefined
      means.zoomIn(contact)
    } else means.pick(contact)
  }

  private letGo(contact: Contact): void {
    const first = this.trail.find(({ timeMs }) => timeMs > contact.timeMs - SPEED_OVER_MS)
    const passedMs = first ? contact.timeMs - first.timeMs : 0
    if (!first || passedMs <= 0) return
    const right = (contact.xPx - first.xPx) / passedMs
    const down = (contact.yPx - first.yPx) / passedMs
    if (Math.hypot(right, down) > LEAST_GLIDE_PX_PER_MS) this.means.glide(right, down)
  }
}

function middleOf(a: Spot, b: Spot): Spot {
  return { xPx: (a.xPx + b.xPx) / 2, yPx: (a.yPx + b.yPx) / 2 }
}

function distance(a: Spot, b: Spot): number {
  return Math.hypot(a.xPx - b.xPx, a.yPx - b.yPx)
}
