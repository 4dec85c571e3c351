import { attendance, type EventInfo } from '@landpass/client'
import { computed, signal } from '@preact/signals'
import { coordinatesText } from './coordinates.ts'
import { forgetEditCode } from './edit-code.ts'
import {
  checkEvent,
  checked,
  eventId,
  eventName,
  eventText,
  forgetEvent,
  missingOfEvent,
  provenEvent,
  registered,
  showOwnPlaces,
  takeOver,
} from './event-state.ts'
import { attempt, fault, faultAt, isBusy } from './fault-state.ts'
import { isMadeHere } from './made-here.ts'
import { noteMyEvent } from './my-events.ts'
import { coordinatesFaultText, forgetPlaces, readPlaces } from './places-state.ts'
import { placeOf, stepWith } from './refusal-place.ts'
import { type OrganiserCredentials, sendAsOrganiser } from './send-as-organiser.ts'
import { noteStep, showEvent, shownEvent } from './shown-event.ts'
import { isReachable, type Step } from './steps.ts'

/** The steps of the form, and the actions of its buttons. A failure never clears what was typed. */

/** What was just done; the live page announces it. */
export type News =
  | { readonly kind: 'codes'; readonly num: number; readonly total: number }
  | { readonly kind: 'saved' }
  | { readonly kind: 'changed' | 'waits' | 'cancelled' | 'resumed' }

export const step = signal<Step>('event')
/** The issuer has no codes yet. `loadsUntil`: the server loads them by itself until then; null where it does not. */
export const issuerWait = signal<{ readonly loadsUntil: string | null } | undefined>(undefined)
/** Whether the organiser lets the server load the codes by itself; undefined before it was chosen. */
export const loadsByItself = signal<boolean | undefined>(undefined)
export const news = signal<News | undefined>(undefined)

export const progress = computed(() => ({
  hasEvent: provenEvent.value !== undefined,
  hasPlaces: readPlaces.value.fault === undefined,
  isRegistered: registered.value !== undefined,
}))

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

/** Continues from the first step, once the edit code is known to be right: to the places, or straight to the codes. */
export async function leaveEventStep(wanted: Step = 'places'): Promise<void> {
  if (isBusy.value) return
  fault.value = missingOfEvent()
  if (fault.value) return
  await attempt(async () => {
    const found = await checkEvent()
    if (found) {
      fault.value = found
      return
    }
    showOwnPlaces()
    const next = comeBackTo ?? wanted
    comeBackTo = undefined
    goTo(isReachable(next, progress.value) ? next : 'places')
  }, refuse)
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
    takeOver(eventName.value ?? id, event)
    showOwnPlaces()
    // The tokens of an event that was made here need no codes
    if (isMadeHere(event)) finish(event, { kind: 'saved' })
    else goTo('codes')
  }, refuse)
}

export async function fetchCodes(): Promise<void> {
  const event = registered.value
  if (!event) return
  issuerWait.value = undefined
  await attempt(async () => {
    const { body } = await sendAsOrganiser(String(event.id), (credentials) =>
      attendance.loadCodes(event.id, credentials, { load_when_approved: loadsByItself.value }),
    )
    if (body.waiting_for_issuer) {
      const loadsUntil = body.loads_until ?? null
      issuerWait.value = { loadsUntil }
      loadsByItself.value = loadsUntil !== null
    } else finish(event, { kind: 'codes', num: body.num, total: body.total })
  }, refuse)
}

/** Shows the live page, and resets the form for the next event. @param keepsCode the controls of the event goes on with it */
export function finish(event: EventInfo, what?: News, keepsCode = false): void {
  noteMyEvent(event)
  if (!keepsCode) forgetEditCode()
  forgetEvent()
  forgetPlaces(String(event.id))
  step.value = 'event'
  issuerWait.value = undefined
  loadsByItself.value = undefined
  fault.value = undefined
  news.value = what
  showEvent(keepsCode ? (shownEvent.peek() ?? event.uuid) : event.uuid)
}

/** Opens the form for an event that the live page shows. */
export function beginChange(event: EventInfo): void {
  const id = String(event.id)
  forgetEvent()
  eventText.value = id
  takeOver(id, event)
  showOwnPlaces()
  fault.value = undefined
  step.value = 'event'
}

function show(wanted: Step): void {
  // A waiting time of the server applies to every step, so its message stays when the step changes.
  if (fault.value?.untilMs === undefined) fault.value = undefined
  issuerWait.value = undefined
  // What was chosen for one event is not meant for the next one
  loadsByItself.value = undefined
  step.value = wanted
}

/** Shows a failure at the field or step that caused it. */
function refuse(error: unknown): void {
  const place = placeOf(error)
  const there = stepWith(place)
  if (there && there !== step.value) {
    if (there === 'event') comeBackTo = step.value
    step.value = there
    noteStep(there)
  }
  // The edit code was right before: it is asked for again
  if (there === 'event') checked.value = undefined
  fault.value = faultAt(place, error)
}
