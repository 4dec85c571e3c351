import type { Spot } from './camera.ts'
import { type Contact, type ContactStart, Gestures, type Meanings } from './gestures.ts'

/** Events of mouse and pen that are not gestures. */
export interface PointerEvents extends Meanings {
  /** The wheel was turned. @returns whether it was for the map, and not for the page that the map is a part of */
  turn(turn: WheelEvent, spot: Spot): boolean
  /** A mouse or pen is over the map; undefined when it has left. */
  point(spot: Spot | undefined): void
  /** The space bar is held while dragging. */
  isPushKeyHeld(): boolean
}

export interface Pointers {
  /** Cancels the current drawing. */
  cancel(): void
  end(): void
}

const MIDDLE_BUTTON = 1
/** How long a finger rests before it looks. */
const LONG_PRESS_MS = 500

/** Listens to mouse, fingers, pen and wheel on an element. */
export function listenToPointers(surface: HTMLElement, events: PointerEvents): Pointers {
  const gestures = new Gestures(events)
  let rest: number | undefined
  const listening = new AbortController()
  const { signal } = listening
  const spotAt = ({ clientX, clientY }: MouseEvent): Spot => {
    const { left, top } = surface.getBoundingClientRect()
    return { xPx: clientX - left, yPx: clientY - top }
  }
  const contactOf = (event: PointerEvent): Contact => ({
    ...spotAt(event),
    id: event.pointerId,
    timeMs: event.timeStamp,
    isFinger: event.pointerType === 'touch',
  })
  const startOf = (event: PointerEvent): ContactStart => ({
    ...contactOf(event),
    isPush: event.button === MIDDLE_BUTTON || events.isPushKeyHeld(),
  })
  surface.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button > MIDDLE_BUTTON) return
      surface.setPointerCapture(event.pointerId)
      gestures.down(startOf(event))
      window.clearTimeout(rest)
      rest = window.setTimeout(() => gestures.rested(), LONG_PRESS_MS)
    },
    { signal },
  )
  surface.addEventListener(
    'pointermove',
    (event) => {
      // While dragging, the parcel below the pointer stays the same.
      if (event.pointerType !== 'touch' && event.buttons === 0) events.point(spotAt(event))
      gestures.move(contactOf(event))
    },
    { signal },
  )
  surface.addEventListener('pointerup', (event) => gestures.up(contactOf(event)), { signal })
  surface.addEventListener('pointercancel', () => gestures.cancel(), { signal })
  surface.addEventListener(
    'pointerleave',
    ({ pointerType }) => pointerType !== 'touch' && events.point(undefined),
    { signal },
  )
  // Prevents the browser's own scrolling with the middle button.
  surface.addEventListener('mousedown', (event) => event.button === MIDDLE_BUTTON && event.preventDefault(), {
    signal,
  })
  surface.addEventListener(
    'wheel',
    (event) => {
      if (events.turn(event, spotAt(event))) event.preventDefault()
    },
    { signal, passive: false },
  )
  // CSS (`touch-action`) covers one finger; the browser would scroll the page with two fingers as well.
  surface.addEventListener(
    'touchmove',
    (event) => {
      if (event.touches.length > 1 && event.cancelable) event.preventDefault()
    },
    { signal, passive: false },
  )
  const end = () => {
    window.clearTimeout(rest)
    listening.abort()
  }
  return { cancel: () => gestures.cancel(), end }
}
