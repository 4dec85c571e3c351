import { attendance, LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { serverNowMs } from '../api/server-clock.ts'
import { locale, text } from '../texts/texts.ts'
import { coordinatesText } from './coordinates.ts'
import { carryEditCode } from './edit-code.ts'
import { isEventDescription, isEventLink, isEventName } from './event-texts.ts'
import {
  type EventTimes,
  faultsOfTimes,
  lastDayWith,
  noTimes,
  sentTimes,
  TIME_PLACES,
  type TimePlace,
} from './event-times-state.ts'
import { attempt, clearFaultAt, type Fault, fault, faultAt, isBusy, showFaults } from './fault-state.ts'
import { finish } from './form-state.ts'
import { type MadeEventAnswer, made } from './made-state.ts'
import { coordinatesFaultText, fillPlaces, forgetPlaces, NEW_EVENT, readPlaces } from './places-state.ts'
import { readCount } from './read-count.ts'
import { type MakePlace, makePlaceOf, type RefusalPlace } from './refusal-place.ts'
import { MAX_TOKENS, tokensFaultText } from './tokens-text.ts'

/** State of the form that makes an event on this server. Its places are those of `places-state.ts`. */

/** What the organiser types and ticks. */
export interface EventDraft extends EventTimes {
  readonly name: string
  readonly description: string
  /** An https address; empty for none. */
  readonly link: string
  readonly tokens: string
  /** A data address; empty for none. */
  readonly image: string
  readonly requiresPresence: boolean
  readonly requiresCaptcha: boolean
  readonly hidesHolders: boolean
}

const EMPTY: EventDraft = {
  name: '',
  description: '',
  link: '',
  ...noTimes(),
  tokens: '100',
  image: '',
  requiresPresence: true,
  requiresCaptcha: false,
  hidesHolders: false,
}

export const draft = signal(EMPTY)

/** @param place the field, whose fault is deleted; left out: a rule, or the zone of the times */
export function changeDraft(change: Partial<EventDraft>, place?: MakePlace): void {
  draft.value = { ...draft.value, ...change, ...lastDayWith(draft.value, change.first_day) }
  if (place) clearFaultAt(place)
  // Days and times are compared with each other
  if (place === undefined || isTimePlace(place)) for (const one of TIME_PLACES) clearFaultAt(one)
}

function isTimePlace(place: MakePlace): place is TimePlace {
  return TIME_PLACES.some((one) => one === place)
}

/**
 * The places of the form, and of the look at the event before it is made, are those of the new event alone.
 *
 * @returns is called when both are left: they begin with the form again
 */
export function openDraft(): () => void {
  fillPlaces(NEW_EVENT, '')
  return () => {
    isReviewing.value = false
  }
}

/** The chosen file is no picture that can be used; the one before stays. */
export function refusePicture(): void {
  fault.value = faultOfField('picture')
}

/** Whether the organiser looks at the event once more before it is made. */
export const isReviewing = signal(false)

/**
 * Shows what is going to be made, or all that is wrong with the form.
 *
 * @param incomplete days and times of which only a part was typed: in the draft they are empty
 */
export function reviewEvent(incomplete: readonly TimePlace[]): void {
  if (isBusy.value) return
  const faults = faultsOf(draft.value, incomplete)
  showFaults(faults)
  isReviewing.value = faults.length === 0
}

/** Sends the form. A failure clears nothing; one of a field is shown there. */
export async function makeEvent(): Promise<void> {
  await attempt(
    async () => {
      made.value = await sendDraft(draft.value)
      isReviewing.value = false
    },
    (error) => {
      fault.value = faultOfRefusal(error)
      isReviewing.value = fault.value.place === 'step'
    },
  )
}

/** Shows the page of the event, which takes over the edit code. */
export function leaveMade({ event, edit_code: code }: MadeEventAnswer): void {
  carryEditCode(event.uuid, code)
  made.value = undefined
  draft.value = EMPTY
  forgetPlaces(NEW_EVENT)
  finish(event, { kind: 'saved' })
}

function sendDraft(entered: EventDraft) {
  const { name, description, link, tokens, image, ...rules } = entered
  const { distribution_start_date: opens, distribution_end_date: closes, ...days } = sentTimes(entered)
  return send(
    attendance.makeEvent({
      name: name.trim(),
      description: description.trim(),
      ...(link.trim() !== '' && { event_url: link.trim() }),
      coordinates: coordinatesText(readPlaces.value.places),
      ...days,
      ...(opens !== '' && { distribution_start_date: opens }),
      ...(closes !== '' && { distribution_end_date: closes }),
      tokens: readCount(tokens, locale.peek()) ?? 0,
      ...(image !== '' && { image }),
      requires_presence: rules.requiresPresence,
      requires_captcha: rules.requiresCaptcha,
      hide_holders: rules.hidesHolders,
    }),
  )
}

/** The fields that the server would refuse, from above. */
function faultsOf(entered: EventDraft, incomplete: readonly TimePlace[]): readonly Fault[] {
  const { name, description, link, tokens } = entered
  const count = readCount(tokens, locale.peek()) ?? 0
  return [
    ...(isEventName(name) ? [] : [faultOfField('name')]),
    ...(isEventDescription(description) ? [] : [faultOfField('description')]),
    ...(readPlaces.value.fault ? [{ place: 'coordinates', say: coordinatesFaultText } as const] : []),
    ...(isEventLink(link) ? [] : [faultOfField('link')]),
    ...faultsOfTimes(entered, incomplete, serverNowMs()),
    ...(count > 0 && count <= MAX_TOKENS ? [] : [faultOfField('tokens')]),
  ]
}

function faultOfRefusal(error: unknown): Fault {
  const place = makePlaceOf(error)
  if (isMakePlace(place)) return faultOfField(place)
  const refused = faultAt(place, error)
  const isOfWaiting = error instanceof LandpassError && error.data.limit === 'waiting_events'
  return isOfWaiting ? { ...refused, say: () => text('organise.make.waiting_full') } : refused
}

/** What is wrong with a field, in words of the forms. */
export function faultOfField(place: MakePlace): Fault {
  return { place, say: () => (place === 'tokens' ? tokensFaultText(1) : text(FIELD_FAULTS[place])) }
}

const FIELD_FAULTS = {
  name: 'organise.make.name_fault',
  description: 'organise.make.description_fault',
  link: 'organise.make.link_fault',
  first_day: 'organise.make.day_fault',
  first_time: 'organise.make.first_time_fault',
  last_day: 'organise.make.last_day_fault',
  last_time: 'organise.make.last_time_fault',
  picture: 'organise.make.picture_fault',
} as const satisfies Record<Exclude<MakePlace, 'tokens'>, string>

export function isMakePlace(place: RefusalPlace): place is MakePlace {
  return place === 'tokens' || place in FIELD_FAULTS
}
