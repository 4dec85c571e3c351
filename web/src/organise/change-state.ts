import { attendance, type EventInfo, LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { serverNowMs } from '../api/server-clock.ts'
import { locale, text } from '../texts/texts.ts'
import { isChangeWaiting } from './change-waits.ts'
import { isResting } from './controls/controls-session.ts'
import { coordinatesText } from './coordinates.ts'
import { isEditCodeHeld } from './edit-code.ts'
import { isEventDescription, isEventLink, isEventName } from './event-texts.ts'
import {
  type EventTimes,
  faultsOfTimes,
  lastDayWith,
  sentTimes,
  TIME_PLACES,
  type TimePlace,
  timesOf,
} from './event-times-state.ts'
import { attempt, clearFaultAt, type Fault, fault, faultAt, isBusy, showFaults } from './fault-state.ts'
import { beginChange, finish } from './form-state.ts'
import { faultOfField, isMakePlace } from './make-state.ts'
import { coordinatesFaultText, forgetPlaces, readPlaces } from './places-state.ts'
import { readCount } from './read-count.ts'
import { type MakePlace, makePlaceOf } from './refusal-place.ts'
import { sendAsOrganiser } from './send-as-organiser.ts'
import { MAX_TOKENS, tokensFaultText } from './tokens-text.ts'

/** State of the form that changes an event made here. Its places are those of `places-state.ts`. */

/** What is in the form. */
export interface ChangeDraft {
  readonly name: string
  readonly description: string
  readonly link: string
  readonly times: EventTimes
  /** False where the fields cannot say the times of day: then the days alone are changed. */
  readonly hasTimes: boolean
  readonly tokens: string
  /** A data address of another picture; empty for none. */
  readonly image: string
}

/** Undefined until the form is open. */
export const changeDraft = signal<ChangeDraft | undefined>(undefined)
/** As it was when the form was opened. */
let before: ChangeDraft | undefined
/** Whether the list of holders is private; undefined until the server has answered. */
export const hidesHolders = signal<boolean | undefined>(undefined)
/** As it was when the form was opened. */
let hidBefore: boolean | undefined

/** Before the operator has approved an event, its page shows no number that could be raised. */
export function hasTokens(total: number): boolean {
  return total > 0
}

/** Fills the form with what the event has. @returns to empty it again, except for the edit code */
export function openChange(info: EventInfo, total: number): () => void {
  beginChange(info)
  before = {
    ...{ name: info.name, description: info.description, link: info.event_url, ...timesOf(info) },
    ...{ tokens: String(total), image: '' },
  }
  changeDraft.value = before
  hidBefore = undefined
  hidesHolders.value = undefined
  const closed = new AbortController()
  void askHidden(info.uuid, closed.signal)
  return () => {
    closed.abort()
    changeDraft.value = undefined
    forgetPlaces(String(info.id))
    showFaults([])
  }
}

/** Finds out whether the list of holders is private. Where that fails the form leaves it as it is. */
async function askHidden(uuid: string, signal: AbortSignal): Promise<void> {
  const isHidden = await send(attendance.holders(uuid, { limit: 0 }), signal).then(
    () => false,
    (error) => (error instanceof LandpassError && error.code === 'holders_hidden' ? true : undefined),
  )
  if (signal.aborted) return
  hidBefore = isHidden
  hidesHolders.value = isHidden
}

/** @param place the field, whose fault is deleted; left out: the zone of the times */
export function typeChange(change: Partial<ChangeDraft>, place?: MakePlace): void {
  if (!changeDraft.value) return
  changeDraft.value = { ...changeDraft.value, ...change }
  if (place) clearFaultAt(place)
}

export function typeTimes(change: Partial<EventTimes>): void {
  const times = changeDraft.value?.times
  if (!times) return
  typeChange({ times: { ...times, ...change, ...lastDayWith(times, change.first_day) } })
  for (const place of TIME_PLACES) clearFaultAt(place)
}

/** The chosen file is no picture that can be used. */
export function refuseChangedPicture(): void {
  fault.value = faultOfField('picture')
}

/**
 * Sends the form, then shows the live page. A failure is shown at the field that caused it, and clears nothing.
 *
 * @param incomplete days and times of which only a part was typed
 */
export async function saveChange(
  info: EventInfo,
  total: number,
  { incomplete, onSaved }: { readonly incomplete: readonly TimePlace[]; onSaved(): void },
): Promise<void> {
  const entered = changeDraft.value
  if (isBusy.value || !entered) return
  const faults = faultsOfForm(entered, total, incomplete)
  showFaults(faults)
  if (faults.length > 0) return
  const change = changeOf(entered, info, total)
  await attempt(
    async () => {
      const { event, approval } = await sendAsOrganiser(String(info.id), ({ editCode }) =>
        attendance.changeMadeEvent(info.id, editCode, change),
      )
      finish(event, { kind: isChangeWaiting({ approval }) ? 'waits' : 'changed' }, isResting(event))
      onSaved()
    },
    (error) => {
      fault.value = faultOfRefusal(error, total)
    },
  )
}

/** The fields that were changed. */
function changeOf(entered: ChangeDraft, info: EventInfo, total: number) {
  const texts = {
    name: entered.name.trim(),
    description: entered.description.trim(),
    event_url: entered.link.trim(),
  }
  const tokens = readCount(entered.tokens, locale.peek())
  const coordinates = coordinatesText(readPlaces.value.places)
  const others = {
    ...Object.fromEntries(
      Object.entries(texts).filter(([name, text]) => text !== info[name as keyof typeof texts]),
    ),
    ...timesChange(entered, info),
    ...(entered.image !== '' && { image: entered.image }),
    ...(hidesHolders.value !== hidBefore && { hide_holders: hidesHolders.value === true }),
    ...(hasTokens(total) && tokens !== undefined && tokens !== total && { tokens }),
  }
  // Places as they are take back other ones that wait for the operator: they are sent where nothing else is
  const isOfPlaces = coordinates !== info.coordinates || Object.keys(others).length === 0
  return { ...others, ...(isOfPlaces && { coordinates }) }
}

/** Days, times and their zone, where one of them was changed. */
function timesChange({ times, hasTimes }: ChangeDraft, { time_zone: zoneBefore }: EventInfo) {
  if (before === undefined || isSame(times, before.times)) return {}
  const { start_date, end_date, time_zone, ...hours } = sentTimes(times)
  const days = { start_date, end_date, ...(time_zone !== zoneBefore && { time_zone }) }
  return hasTimes ? { ...days, ...hours } : days
}

function isSame(one: EventTimes, other: EventTimes): boolean {
  return Object.entries(one).every(([name, value]) => value === other[name as keyof EventTimes])
}

/** The fields that the server would refuse, from above. */
function faultsOfForm(
  { name, description, link, times, hasTimes, tokens: typed }: ChangeDraft,
  total: number,
  incomplete: readonly TimePlace[],
): readonly Fault[] {
  const tokens = readCount(typed, locale.peek())
  const isTaken = !hasTokens(total) || (tokens !== undefined && tokens >= total && tokens <= MAX_TOKENS)
  return [
    ...(isEditCodeHeld.value
      ? []
      : [{ place: 'edit_code', say: () => text('organise.change.code_missing') } as const]),
    ...(isEventName(name) ? [] : [faultOfField('name')]),
    ...(isEventDescription(description) ? [] : [faultOfField('description')]),
    ...(readPlaces.value.fault ? [{ place: 'coordinates', say: coordinatesFaultText } as const] : []),
    ...(isEventLink(link) ? [] : [faultOfField('link')]),
    ...faultsOfTimes(
      hasTimes ? times : { ...times, first_time: '', last_time: '' },
      incomplete,
      before && isSame(times, before.times) ? 0 : serverNowMs(),
    ),
    ...(isTaken ? [] : [faultOfTokens(total)]),
  ]
}

function faultOfRefusal(error: unknown, total: number): Fault {
  // For an event that was made here the operator can issue a new code
  if (error instanceof LandpassError && error.code === 'wrong_edit_code')
    return { place: 'edit_code', say: () => text('organise.change.wrong_code') }
  const place = makePlaceOf(error)
  if (place === 'tokens') return faultOfTokens(total, error)
  return isMakePlace(place) ? faultOfField(place) : faultAt(place, error)
}

/** A number below that of the event, or one that the server refused. */
function faultOfTokens(total: number, error?: unknown): Fault {
  return { place: 'tokens', say: () => tokensFaultText(total, error) }
}
