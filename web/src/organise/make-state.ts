import { attendance, LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { text } from '../texts/texts.ts'
import { coordinatesText } from './coordinates.ts'
import { momentOf } from './event-hours.ts'
import { attempt, clearFaultAt, type Fault, fault, faultAt, isBusy, showFaults } from './fault-state.ts'
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
  draft.value = { ...draft.value, ...change, ...lastDayWith(draft.value, change) }
  if (place) clearFaultAt(place)
  // Days and times are compared with each other
  if (place && HOURS.includes(place))
    for (const other of ['last_day', 'last_time'] as const) clearFaultAt(other)
}

/** An event of one day has its last day in sight, too: it goes with the first one until another day is entered. */
function lastDayWith({ first_day: before, last_day }: EventDraft, { first_day }: Partial<EventDraft>) {
  return first_day !== undefined && last_day === before ? { last_day: first_day } : {}
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
    untilMs: momentOf({ day: last_day, time: last_time }),
  }
}

/** Whether the organiser looks at the event once more before it is made. */
export const isReviewing = signal(false)

/**
 * Shows what is going to be made, or all that is wrong with the form.
 *
 * @param incomplete days and times of which only a part was typed: in the draft they are empty
 */
export function reviewEvent(incomplete: readonly MakePlace[]): void {
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
      end_date: last_day,
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

/** The fields that the server would refuse, from above. */
function faultsOf(entered: EventDraft, incomplete: readonly MakePlace[]): readonly Fault[] {
  const { name, first_day, last_day, tokens } = entered
  const { fromMs, untilMs } = hoursOf(entered)
  const isBefore = last_day < first_day
  const isOver = fromMs !== undefined && untilMs !== undefined && untilMs <= fromMs
  const ofTimes = HOURS.flatMap((place): Fault[] => {
    if (incomplete.includes(place)) return [{ place, say: () => text('organise.make.incomplete_fault') }]
    if (place === 'first_day') return isDay(first_day) ? [] : [faultOfField('first_day')]
    if (place === 'last_day' && !isDay(last_day))
      return [{ place, say: () => text('organise.make.day_fault') }]
    if (place === 'last_day' && isDay(first_day) && isBefore) return [faultOfField('last_day')]
    return place === 'last_time' && !isBefore && isOver ? [faultOfField('last_time')] : []
  })
  return [
    ...(name.trim() === '' ? [faultOfField('name')] : []),
    ...(readPlaces.value.fault ? [{ place: 'coordinates', say: coordinatesFaultText } as const] : []),
    ...ofTimes,
    ...((readCount(tokens) ?? 0) > 0 ? [] : [faultOfField('tokens')]),
  ]
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
