import { computed, signal } from '@preact/signals'
import { worldGrid } from '../live/world.ts'
import { text } from '../texts/texts.ts'
import { MAX_PLACES, readCoordinates } from './coordinates.ts'
import { clearFaultAt } from './fault-state.ts'

/** The places of the event that a form is about, as text and on the map. */

/** As typed or drawn. */
export const placesText = signal('')
/** The texts before each change on the map, since the last typing; the newest at the end. */
export const earlierPlaces = signal<readonly string[]>([])
export const readPlaces = computed(() => readCoordinates(placesText.value, worldGrid.value?.bounds))

/** Number of changes that can be undone. */
const MAX_EARLIER = 50

interface Drawn {
  readonly text: string
  readonly earlier: readonly string[]
}

/** The event that the places are of. */
let ownEvent: string | undefined
/** The text that came from the server, to tell it from what the organiser typed. */
let prefilled = ''
/** What the organiser typed or drew for other events: going back to one shows it again. */
const drawnFor = new Map<string, Drawn>()

export function typePlaces(typed: string): void {
  setPlaces(typed, [])
}

/** Draws on the map, or clears. */
export function changePlaces(changed: string): void {
  setPlaces(changed, [...earlierPlaces.value, placesText.value].slice(-MAX_EARLIER))
}

/** Takes the last change back. */
export function undoPlaces(): void {
  const last = earlierPlaces.value.at(-1)
  if (last !== undefined) setPlaces(last, earlierPlaces.value.slice(0, -1))
}

/**
 * Begins with the places of an event as it is registered, unless the organiser has typed others for it. What was typed for
 * another event is kept until that one is shown again, or done with.
 *
 * @param event its number, or {@link NEW_EVENT}
 */
export function fillPlaces(event: string, coordinates: string): void {
  keepDrawn()
  ownEvent = event
  const kept = drawnFor.get(event)
  drawnFor.delete(event)
  prefilled = coordinates
  setPlaces(kept?.text ?? coordinates, kept?.earlier ?? [])
}

/** Puts aside what the organiser typed for the shown event, if it is another text than that of the server. */
function keepDrawn(): void {
  const text = placesText.value
  if (ownEvent === undefined || text.trim() === '' || text === prefilled) return
  drawnFor.set(ownEvent, { text, earlier: earlierPlaces.value })
}

/** The event of the form that makes one: it has no number yet. */
export const NEW_EVENT = 'new'

/**
 * Forgets the places of an event that is done with, also where those of another event are shown meanwhile: these stay.
 *
 * @param event its number, or {@link NEW_EVENT}
 */
export function forgetPlaces(event: string): void {
  drawnFor.delete(event)
  if (ownEvent !== undefined && ownEvent !== event) return
  ownEvent = undefined
  prefilled = ''
  typePlaces('')
}

function setPlaces(text: string, earlier: readonly string[]): void {
  placesText.value = text
  earlierPlaces.value = earlier
  clearFaultAt('coordinates')
}

export function coordinatesFaultText(): string {
  const wrong = readPlaces.value.fault
  switch (wrong?.kind) {
    case 'missing':
      return text('organise.places.missing')
    case 'unreadable':
      return text('organise.places.unreadable', { position: wrong.position, pair: wrong.pair })
    case 'outside': {
      const { minX = 0, minY = 0, maxX = 0, maxY = 0 } = worldGrid.value?.bounds ?? {}
      const corners = { from: `${minX},${minY}`, to: `${maxX},${maxY}` }
      return text('organise.places.outside', { position: wrong.position, pair: wrong.pair, ...corners })
    }
    case 'too_many':
      return text('organise.places.too_many', { pair: wrong.pair, count: MAX_PLACES })
    default:
      return ''
  }
}
