import { attendance, LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { text } from '../texts/texts.ts'
import { coordinatesText } from './coordinates.ts'
import { momentOf } from './event-hours.ts'
import { attempt, clearFaultAt, type Fault, fault, faultAt, isBusy } from './fault-state.ts'
import { finish } from './form-state.ts'
import { type MadeEventAnswer, made } from './made-state.ts'
import { coordinatesFaultText, fillPlaces, forgetPlaces, NEW_EVENT, readPlaces } from './places-state.ts'
import { readCount } from './read-count.ts'
import { type MakePlace, makePlaceOf, type RefusalPlace } from './refusal-place.ts'
import { refusedTokensText } from './tokens-text.ts'

/** State of the form that makes an event on this server. Its places are those of `places-state.ts`. */

export const MAX_NAME_LENGTH = 100
/** As on the server: times of tokens have 32 bits in public explorers. */
const LAST_YEAR = 2037

/** What the organiser types and ticks. Days are `YYYY-MM-DD`, times of day `HH:MM` on this device's clock. */
export interface EventDraft {
  readonly name: string
  readonly description: string
  readonly first_day: string
  /** Empty: from the begin of the first day. */
  readonly first_time: string
  /** Empty: the first one. */
  readonly last_day: string
  /** Empty: until the last day is over everywhere. */
  readonly last_time: string
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
  first_day: '',
  first_time: '',
  last_day: '',
  last_time: '',
  tokens: '100',
  image: '',
  requiresPresence: true,
  requiresCaptcha: false,
  hidesHolders: false,
}

export const draft = signal(EMPTY)

/** @param place the field, whose fault is deleted */
export function changeDraft(change: Partial<EventDraft>, place?: MakePlace): void {
  draft.value = { ...draft.value, ...change }
  if (place) clearFaultAt(place)
  // Days and times are compared with each other
  if (place && HOURS.includes(place)) clearFaultAt('last_time')
}

/** The fields of days and times, from above. */
export const HOURS: readonly MakePlace[] = ['first_day', 'first_time', 'last_day', 'last_time']

/** The places of the form are those of the new event alone. */
export function openDraft(): void {
  fillPlaces(NEW_EVENT, '')
}

/** The chosen file is no picture that can be used; the one before stays. */
export function refusePicture(): void {
  fault.value = faultOfField('picture')
}

/** When tokens are given out, in milliseconds since 1970; undefined for whole days. */
export function hoursOf({ first_day, first_time, last_day, last_time }: EventDraft) {
  return {
    fromMs: momentOf({ day: first_day, time: first_time }),
    untilMs: momentOf({ day: last_day === '' ? first_day : last_day, time: last_time }),
  }
}

/**
 * Sends the form. A failure is shown at the field that caused it, and clears nothing.
 *
 * @param incomplete days and times of which only a part was typed: in the draft they are empty
 */
export async function makeEvent(incomplete: readonly MakePlace[]): Promise<void> {
  if (isBusy.value) return
  fault.value = faultOf(draft.value, incomplete)
  if (fault.value) return
  await attempt(
    async () => {
      made.value = await sendDraft(draft.value)
    },
    (error) => {
      fault.value = faultOfRefusal(error)
    },
  )
}

/** Forgets the edit code and shows the page of the event. */
export function leaveMade({ event }: MadeEventAnswer): void {
  made.value = undefined
  draft.value = EMPTY
  forgetPlaces(NEW_EVENT)
  finish(event, { kind: 'saved' })
}

function sendDraft(entered: EventDraft) {
  const { name, description, first_day, last_day, tokens, image, ...rules } = entered
  const { fromMs, untilMs } = hoursOf(entered)
  return send(
    attendance.makeEvent({
      name: name.trim(),
      description: description.trim(),
      coordinates: coordinatesText(readPlaces.value.places),
      start_date: first_day,
      end_date: last_day === '' ? first_day : last_day,
      ...(fromMs !== undefined && { distribution_start_date: new Date(fromMs).toISOString() }),
      ...(untilMs !== undefined && { distribution_end_date: new Date(untilMs).toISOString() }),
      tokens: readCount(tokens) ?? 0,
      ...(image !== '' && { image }),
      requires_presence: rules.requiresPresence,
      requires_captcha: rules.requiresCaptcha,
      hide_holders: rules.hidesHolders,
    }),
  )
}

/** The first field that the server would refuse, from above. */
function faultOf(entered: EventDraft, [incomplete]: readonly MakePlace[]): Fault | undefined {
  const { name, first_day, last_day, tokens } = entered
  if (name.trim() === '') return faultOfField('name')
  if (readPlaces.value.fault) return { place: 'coordinates', say: coordinatesFaultText }
  if (incomplete) return { place: incomplete, say: () => text('organise.make.incomplete_fault') }
  if (!isDay(first_day)) return faultOfField('first_day')
  if (last_day !== '' && !isDay(last_day))
    return { place: 'last_day', say: () => text('organise.make.day_fault') }
  if (last_day !== '' && last_day < first_day) return faultOfField('last_day')
  const { fromMs, untilMs } = hoursOf(entered)
  if (fromMs !== undefined && untilMs !== undefined && untilMs <= fromMs) return faultOfField('last_time')
  return (readCount(tokens) ?? 0) > 0 ? undefined : faultOfField('tokens')
}

function faultOfRefusal(error: unknown): Fault {
  const place = makePlaceOf(error)
  if (place === 'tokens')
    return { place, say: () => refusedTokensText(error, 1) ?? text(FIELD_FAULTS.tokens) }
  if (isMakePlace(place)) return faultOfField(place)
  const refused = faultAt(place, error)
  const isOfWaiting = error instanceof LandpassError && error.data.limit === 'waiting_events'
  return isOfWaiting ? { ...refused, say: () => text('organise.make.waiting_full') } : refused
}

function faultOfField(place: MakePlace): Fault {
  return { place, say: () => text(FIELD_FAULTS[place]) }
}

const FIELD_FAULTS = {
  name: 'organise.make.name_fault',
  description: 'organise.make.description_fault',
  first_day: 'organise.make.day_fault',
  first_time: 'organise.make.first_time_fault',
  last_day: 'organise.make.last_day_fault',
  last_time: 'organise.make.last_time_fault',
  tokens: 'organise.make.tokens_fault',
  picture: 'organise.make.picture_fault',
} as const satisfies Record<MakePlace, string>

function isMakePlace(place: RefusalPlace): place is MakePlace {
  return place in FIELD_FAULTS
}

function isDay(typed: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(typed) && Number(typed.slice(0, 4)) <= LAST_YEAR
}
