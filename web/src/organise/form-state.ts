import { attendance, type EventInfo, LandpassError } from '@landpass/client'
import { computed, signal } from '@preact/signals'
import { findEvent } from '../api/attendance.ts'
import { worldGrid } from '../live/world.ts'
import { refusalText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'
import { coordinatesText, MAX_PLACES, readCoordinates } from './coordinates.ts'
import { forgetEditCode, holdEditCode, isEditCodeHeld } from './edit-code.ts'
import { isMadeHere } from './made-here.ts'
import { placeOf, type RefusalPlace, stepWith, waitUntilMs } from './refusal-place.ts'
import { type OrganiserCredentials, sendAsOrganiser } from './send-as-organiser.ts'
import { noteStep, showEvent } from './shown-event.ts'
import { isReachable, readEventId, type Step } from './steps.ts'

/** State of the form, and the actions of its buttons. A failure never clears what was typed. */

/** A failure that keeps the organiser from continuing. */
export interface Fault {
  readonly place: RefusalPlace
  /** Cause and next step, in the current language of the page. */
  say(): string
  /** Milliseconds since 1970: trying again before that fails. */
  readonly untilMs?: number | undefined
  /** For reporting the failure. */
  readonly requestId?: string | undefined
}

/** The result of looking the event up on this server. */
export type LookUp =
  | { readonly eventId: string; readonly found: EventInfo | undefined }
  | { readonly eventId: string; readonly error: unknown }

/** What was just done; the live page announces it. */
export type News =
  | { readonly kind: 'codes'; readonly num: number; readonly total: number }
  | { readonly kind: 'saved' }
  | { readonly kind: 'changed' }

export const step = signal<Step>('event')
/** As typed. */
export const eventIdText = signal('')
/** As typed or drawn. */
export const placesText = signal('')
/** The texts before each change on the map, since the last typing; the newest at the end. */
export const earlierPlaces = signal<readonly string[]>([])
export const lookUp = signal<LookUp | undefined>(undefined)
export const fault = signal<Fault | undefined>(undefined)
export const isBusy = signal(false)
/** The issuer has no codes yet. */
export const isIssuerWaiting = signal(false)
export const news = signal<News | undefined>(undefined)

/** The step's request failed, and no field is the cause. */
export const isRefused = computed(() => fault.value?.place === 'step')
export const eventId = computed(() => readEventId(eventIdText.value))
export const readPlaces = computed(() => readCoordinates(placesText.value, worldGrid.value?.bounds))
/** The event as it is registered here. */
export const registered = computed(() => {
  const seen = lookUp.value
  return seen && seen.eventId === eventId.value && 'found' in seen ? seen.found : undefined
})
export const progress = computed(() => ({
  hasEvent: eventId.value !== undefined && isEditCodeHeld.value,
  hasPlaces: readPlaces.value.fault === undefined,
  isRegistered: registered.value !== undefined,
}))

/** Number of changes that can be undone. */
const MAX_EARLIER = 50

/** The text that came from the server, to tell it from what the organiser typed. */
let prefilled = ''
/** The step to return to after a field is corrected for which a later step was refused. */
let comeBackTo: Step | undefined

export function goTo(wanted: Step): void {
  if (!isReachable(wanted, progress.value)) return
  show(wanted)
  noteStep(wanted)
}

/** Shows a step from the browser's history; the first one where its data is gone. */
export function returnTo(wanted: Step): void {
  show(isReachable(wanted, progress.value) ? wanted : 'event')
}

export function typeEventId(typed: string): void {
  eventIdText.value = typed
  fault.value = undefined
}

export function typeEditCode(typed: string): void {
  holdEditCode(typed)
  if (fault.value?.place === 'edit_code') fault.value = undefined
}

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

function setPlaces(text: string, earlier: readonly string[]): void {
  placesText.value = text
  earlierPlaces.value = earlier
  if (fault.value?.place === 'coordinates') fault.value = undefined
}

/** Asks whether the event is here already; then its places are the ones to begin with. */
export async function lookUpEvent(): Promise<void> {
  const id = eventId.value
  if (id === undefined || (lookUp.value?.eventId === id && 'found' in lookUp.value)) return
  try {
    const found = await findEvent(id)
    if (eventId.value === id) takeOver(id, found)
  } catch (error) {
    if (eventId.value === id) lookUp.value = { eventId: id, error }
  }
}

/** Continues from the first step: to the places, or straight to the codes. */
export async function leaveEventStep(wanted: Step = 'places'): Promise<void> {
  if (isBusy.value) return
  fault.value = missingOfEvent()
  if (fault.value) return
  isBusy.value = true
  await lookUpEvent()
  isBusy.value = false
  const seen = lookUp.value
  if (seen && 'error' in seen) {
    refuse(seen.error)
    return
  }
  const next = comeBackTo ?? wanted
  comeBackTo = undefined
  goTo(isReachable(next, progress.value) ? next : 'places')
}

export function leavePlacesStep(): void {
  if (readPlaces.value.fault) fault.value = { place: 'coordinates', say: coordinatesFaultText }
  else goTo('register')
}

export async function register(): Promise<void> {
  const id = eventId.value
  if (id === undefined) return
  const coordinates = coordinatesText(readPlaces.value.places)
  await attempt(async () => {
    const register = (credentials: OrganiserCredentials) =>
      attendance.registerEvent(id, { ...credentials, coordinates })
    const event = await sendAsOrganiser(id, register)
    takeOver(id, event)
    // The tokens of an event that was made here need no codes
    if (isMadeHere(event)) finish(event, { kind: 'saved' })
    else goTo('codes')
  })
}

export async function fetchCodes(): Promise<void> {
  const event = registered.value
  if (!event) return
  isIssuerWaiting.value = false
  await attempt(async () => {
    const { body } = await sendAsOrganiser(String(event.id), (credentials) =>
      attendance.loadCodes(event.id, credentials),
    )
    if (body.waiting_for_issuer) isIssuerWaiting.value = true
    else finish(event, { kind: 'codes', num: body.num, total: body.total })
  })
}

/** Shows the live page, and resets the form for the next event. */
export function finish({ uuid }: EventInfo, what?: News): void {
  forgetEditCode()
  step.value = 'event'
  isIssuerWaiting.value = false
  fault.value = undefined
  news.value = what
  showEvent(uuid)
}

/** Opens the form for an event that the live page shows. */
export function beginChange(event: EventInfo): void {
  eventIdText.value = String(event.id)
  lookUp.value = undefined
  takeOver(String(event.id), event)
  setPrefilled()
  fault.value = undefined
  step.value = 'event'
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

function show(wanted: Step): void {
  // A waiting time of the server applies to every step, so its message stays when the step changes.
  if (fault.value?.untilMs === undefined) fault.value = undefined
  isIssuerWaiting.value = false
  step.value = wanted
}

function takeOver(id: string, found: EventInfo | undefined): void {
  lookUp.value = { eventId: id, found }
  const isTheirOwn = placesText.value.trim() !== '' && placesText.value !== prefilled
  prefilled = found?.coordinates ?? ''
  if (!isTheirOwn) setPrefilled()
}

function setPrefilled(): void {
  placesText.value = prefilled
  earlierPlaces.value = []
}

/** Runs the request of a step, and shows a failure at the field or step that caused it. */
async function attempt(work: () => Promise<void>): Promise<void> {
  if (isBusy.value) return
  isBusy.value = true
  fault.value = undefined
  try {
    await work()
  } catch (error) {
    refuse(error)
  } finally {
    isBusy.value = false
  }
}

function refuse(error: unknown): void {
  const place = placeOf(error)
  const there = stepWith(place)
  if (there && there !== step.value) {
    if (there === 'event') comeBackTo = step.value
    step.value = there
    noteStep(there)
  }
  fault.value = faultAt(place, error)
}

/** A refusal of the server, for the part of a form that it is about. */
export function faultAt(place: RefusalPlace, error: unknown): Fault {
  return {
    place,
    say: () => sentenceOf(error),
    untilMs: waitUntilMs(error, Date.now()),
    requestId:
      error instanceof LandpassError && error.code === 'internal_error' ? error.requestId : undefined,
  }
}

function missingOfEvent(): Fault | undefined {
  if (eventId.value === undefined) return { place: 'event', say: () => text('organise.event.id_fault') }
  if (isEditCodeHeld.value) return undefined
  return { place: 'edit_code', say: () => text('organise.event.code_missing') }
}

/** The server names the pair that it refuses: it knows which cells of the world are land. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof LandpassError) || error.code !== 'invalid_coordinates') return refusalText(error)
  const { position, pair } = error.data
  if (typeof position !== 'number' || typeof pair !== 'string') return refusalText(error)
  return text('organise.places.refused', { position, pair })
}
