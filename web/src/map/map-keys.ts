import type { Place } from './map-types.ts'

/** What keys do to the map. */
export interface KeyEvents {
  readonly isDrawing: () => boolean
  /** Where the cursor begins: the parcel that was chosen last, if it is on the screen, or the one in the middle. */
  firstPlace(): Place | undefined
  /** The parcel of the world nearest to a place. */
  nearest(place: Place): Place
  /** The cursor is at a place now. @param corner of a rectangle that ends here, in draw mode */
  moveCursor(place: Place, corner: Place | undefined): void
  markCorner(corner: Place): void
  pick(place: Place): void
  draw(from: Place, to: Place): void
  zoom(direction: 'in' | 'out'): void
  showWhole(): void
  /** Escape: gives up what is being drawn. */
  giveUp(): void
}

export interface Keys {
  isSpaceHeld(): boolean
  /** Hides the cursor. The next key starts it at this place. */
  hideCursor(): void
  end(): void
}

const ARROWS: Readonly<Partial<Record<string, readonly [number, number]>>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
}
const FAR = 10

/**
 * Listens to keys while the map has the focus. Arrows move a cursor from parcel to parcel, and the map follows. Enter
 * and space choose its parcel. In draw mode Shift+Enter marks a corner, and Enter chooses the rectangle from there;
 * while space is held, dragging moves the map.
 */
export function listenToKeys(surface: HTMLElement, events: KeyEvents): Keys {
  let cursor: Place | undefined
  let corner: Place | undefined
  let isSpaceHeld = false
  const listening = new AbortController()
  const { signal } = listening

  const moveTo = (place: Place) => {
    cursor = place
    events.moveCursor(place, corner)
  }
  const choose = ({ marksCorner }: { marksCorner: boolean }) => {
    const place = cursor ?? events.firstPlace()
    if (!place) return
    moveTo(place)
    if (marksCorner && events.isDrawing()) {
      corner = place
      events.markCorner(place)
    } else if (corner) {
      const from = corner
      corner = undefined
      moveTo(place)
      events.draw(from, place)
    } else events.pick(place)
  }
  const giveUp = () => {
    corner = undefined
    events.giveUp()
    if (cursor) moveTo(cursor)
  }
  /** Handles a key. @returns whether it did something */
  const press = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const arrow = ARROWS[key]
    if (arrow) {
      const from = cursor ?? events.firstPlace()
      const step = shiftKey ? FAR : 1
      if (from && cursor) moveTo(events.nearest({ x: from.x + arrow[0] * step, y: from.y + arrow[1] * step }))
      else if (from) moveTo(from) // the first press shows where the cursor is
    } else if (key === '+' || key === '=') events.zoom('in')
    else if (key === '-' || key === '_') events.zoom('out')
    else if (key === '0' || key === 'Home') events.showWhole()
    else if (key === 'Enter') choose({ marksCorner: shiftKey })
    else if (key === ' ') {
      if (events.isDrawing()) isSpaceHeld = true
      else choose({ marksCorner: false })
    } else if (key === 'Escape' && (corner || events.isDrawing())) giveUp()
    else return false
    return true
  }

  surface.addEventListener(
    'keydown',
    (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return // combinations that belong to the browser
      if (press(event)) event.preventDefault()
    },
    { signal },
  )
  surface.addEventListener('keyup', ({ key }) => key === ' ' && release(), { signal })
  surface.addEventListener('blur', release, { signal })
  function release() {
    isSpaceHeld = false
  }
  return {
    isSpaceHeld: () => isSpaceHeld,
    hideCursor: () => {
      cursor = undefined
      corner = undefined
    },
    end: () => listening.abort(),
  }
}
