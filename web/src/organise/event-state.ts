import { attendance, type EventInfo } from '@landpass/client'
import { computed, signal } from '@preact/signals'
import { type CheckedEvent, findEvent } from '../api/attendance.ts'
import { text } from '../texts/texts.ts'
import { fillEditCode, heldEditCode, holdEditCode, isEditCodeHeld } from './edit-code.ts'
import { isEventNumber, readEvent } from './event-id.ts'
import { clearFaultAt, type Fault, fault } from './fault-state.ts'
import { isMadeHere } from './made-here.ts'
import { withoutEditCode } from './pasted-edit-code.ts'
import { fillPlaces } from './places-state.ts'
import { sendAsOrganiser } from './send-as-organiser.ts'

/** Which event the form is about, and whether the edit code belongs to it. */

/** The result of looking the event up on this server. `name`: its number or uuid. */
export type LookUp =
  | { readonly name: string; readonly found: EventInfo | undefined }
  | { readonly name: string; readonly error: unknown }

/** As typed, but never with a claim code or an edit code. */
export const eventText = signal('')
/** Whether an edit code in that text was put into its own field, or could not be read; undefined for a text without one. */
export const pastedEditCode = signal<'taken' | 'unreadable' | undefined>(undefined)
export const lookUp = signal<LookUp | undefined>(undefined)
/** The event to which the edit code belongs that is held. */
export const checked = signal<CheckedEvent | undefined>(undefined)

const pasted = computed(() => readEvent(eventText.value, location.hostname))
/** Number or uuid. */
export const eventName = computed(() => (pasted.value.kind === 'event' ? pasted.value.name : undefined))
/** The event as it is registered here. */
export const registered = computed(() => {
  const seen = lookUp.value
  return seen && seen.name === eventName.value && 'found' in seen ? seen.found : undefined
})
/** The issuer's number; of an event that is named by its uuid, once it is found. */
export const eventId = computed(() => {
  const name = eventName.value
  if (name !== undefined && isEventNumber(name)) return name
  return registered.value && String(registered.value.id)
})
/** What is known about the event that the edit code belongs to. */
export const provenEvent = computed(() =>
  isEditCodeHeld.value && checked.value && String(checked.value.id) === eventId.value
    ? checked.value
    : undefined,
)

/** @returns what the field shows from now on */
export function typeEvent(typed: string): string {
  const isClaimLink = readEvent(typed).kind === 'claim_link'
  eventText.value = isClaimLink ? '' : takeEditCode(typed)
  checked.value = undefined
  fault.value = isClaimLink ? faultOfEvent('organise.event.claim_link') : undefined
  return eventText.value
}

/** Takes an edit code out of the text. @returns what is left for the field of the event */
function takeEditCode(typed: string): string {
  const found = withoutEditCode(typed, heldEditCode())
  pastedEditCode.value = found && (found.editCode === undefined ? 'unreadable' : 'taken')
  if (!found) return typed
  if (found.editCode !== undefined) {
    fillEditCode(found.editCode)
    clearFaultAt('edit_code')
  }
  const event = readEvent(found.rest, location.hostname)
  return event.kind === 'event' ? event.name : ''
}

export function typeEditCode(typed: string): void {
  pastedEditCode.value = undefined
  holdEditCode(typed)
  checked.value = undefined
  clearFaultAt('edit_code')
}

/** What a pasted link or number is, if it names no event. */
export function pastedFaultText(): string | undefined {
  const { kind } = pasted.value
  return kind === 'event' || kind === 'claim_link' || kind === 'unreadable'
    ? undefined
    : text(`organise.event.${kind}`)
}

/** What is missing for asking whether event and edit code belong together. */
export function missingOfEvent(): Fault | undefined {
  if (eventName.value === undefined) {
    return { place: 'event', say: () => pastedFaultText() ?? text('organise.event.id_fault') }
  }
  if (isEditCodeHeld.value) return undefined
  return { place: 'edit_code', say: () => text('organise.event.code_missing') }
}

/** Asks whether the event is here already. */
export async function lookUpEvent(): Promise<void> {
  const name = eventName.value
  if (name === undefined || (lookUp.value?.name === name && 'found' in lookUp.value)) return
  try {
    const found = await findEvent(name)
    if (eventName.value === name) takeOver(name, found)
  } catch (error) {
    if (eventName.value === name) lookUp.value = { name, error }
  }
}

/** The event as it is registered now. @param name number or uuid */
export function takeOver(name: string, found: EventInfo | undefined): void {
  lookUp.value = { name, found }
}

/** Shows the places of the event, which are no other event's, once it is known. */
export function showOwnPlaces(): void {
  if (eventId.value !== undefined) fillPlaces(eventId.value, registered.value?.coordinates ?? '')
}

/** Empties what the form knows of an event, edit code and places apart. */
export function forgetEvent(): void {
  eventText.value = ''
  lookUp.value = undefined
  checked.value = undefined
  pastedEditCode.value = undefined
}

/**
 * Asks whether the edit code belongs to the event: this server for a registered one, the issuer for any other.
 *
 * @returns what keeps the organiser from continuing
 * @throws {LandpassError} `wrong_edit_code`, or an error of any call
 */
export async function checkEvent(): Promise<Fault | undefined> {
  await lookUpEvent()
  if (lookUp.value && 'error' in lookUp.value) throw lookUp.value.error
  const id = eventId.value
  // Only an event of the issuer can be somewhere else
  if (id === undefined || (!registered.value && isMadeHere({ id: Number(id) })))
    return faultOfEvent('organise.event.unknown_here')
  if (provenEvent.value) return undefined
  const code = heldEditCode()
  const answer = await sendAsOrganiser(id, (credentials) => attendance.checkEditCode(id, credentials))
  // The answer is about what was sent: the fields may have changed since
  if (id !== eventId.value || code !== heldEditCode()) return undefined
  checked.value = answer
  // It was registered meanwhile
  if (answer.registered && !registered.value) {
    lookUp.value = undefined
    await lookUpEvent()
  }
  return undefined
}

function faultOfEvent(key: 'organise.event.claim_link' | 'organise.event.unknown_here'): Fault {
  return { place: 'event', say: () => text(key) }
}
