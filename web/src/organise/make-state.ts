import { attendance } from '@landpass/client'
import { signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { text } from '../texts/texts.ts'
import { coordinatesText } from './coordinates.ts'
import {
  coordinatesFaultText,
  type Fault,
  fault,
  faultAt,
  finish,
  isBusy,
  readPlaces,
  typePlaces,
} from './form-state.ts'
import { type MakePlace, makePlaceOf, type RefusalPlace } from './refusal-place.ts'

/** State of the form that makes an event on this server. Its places are those of `form-state.ts`. */

export const MAX_NAME_LENGTH = 100
export const MAX_DESCRIPTION_LENGTH = 2_000
/** As on the server: times of tokens have 32 bits in public explorers. */
const LAST_YEAR = 2037

/** What the organiser types and ticks. Days are `YYYY-MM-DD`. */
export interface EventDraft {
  readonly name: string
  readonly description: string
  readonly first_day: string
  readonly last_day: string
  readonly tokens: string
  /** A data address; empty for none. */
  readonly image: string
  readonly requiresPresence: boolean
  readonly requiresCaptcha: boolean
  readonly hidesHolders: boolean
}

export type MadeEventAnswer = Awaited<ReturnType<typeof sendDraft>>

const EMPTY: EventDraft = {
  name: '',
  description: '',
  first_day: '',
  last_day: '',
  tokens: '100',
  image: '',
  requiresPresence: true,
  requiresCaptcha: false,
  hidesHolders: false,
}

export const draft = signal(EMPTY)
/** The event that was just made, with its edit code: in memory only, until the organiser has kept it. */
export const made = signal<MadeEventAnswer | undefined>(undefined)

/** @param place the field, whose fault is deleted */
export function changeDraft(change: Partial<EventDraft>, place?: MakePlace): void {
  draft.value = { ...draft.value, ...change }
  if (place && fault.value?.place === place) fault.value = undefined
}

/** The chosen file is no picture that can be used; the one before stays. */
export function refusePicture(): void {
  fault.value = faultOfField('picture')
}

/** Sends the form. A failure is shown at the field that caused it, and clears nothing. */
export async function makeEvent(): Promise<void> {
  if (isBusy.value) return
  fault.value = faultOf(draft.value)
  if (fault.value) return
  isBusy.value = true
  try {
    made.value = await sendDraft(draft.value)
  } catch (error) {
    const place = makePlaceOf(error)
    fault.value = isMakePlace(place) ? faultOfField(place) : faultAt(place, error)
  } finally {
    isBusy.value = false
  }
}

/** Forgets the edit code and shows the page of the event. */
export function leaveMade({ event }: MadeEventAnswer): void {
  made.value = undefined
  draft.value = EMPTY
  typePlaces('')
  finish(event, { kind: 'saved' })
}

function sendDraft({ name, description, first_day, last_day, tokens, image, ...rules }: EventDraft) {
  return send(
    attendance.makeEvent({
      name: name.trim(),
      description: description.trim(),
      coordinates: coordinatesText(readPlaces.value.places),
      start_date: first_day,
      end_date: last_day === '' ? first_day : last_day,
      tokens: Number(tokens),
      ...(image !== '' && { image }),
      requires_presence: rules.requiresPresence,
      requires_captcha: rules.requiresCaptcha,
      hide_holders: rules.hidesHolders,
    }),
  )
}

/** The first field that the server would refuse, from above. */
function faultOf({ name, first_day, last_day, tokens }: EventDraft): Fault | undefined {
  if (name.trim() === '') return faultOfField('name')
  if (readPlaces.value.fault) return { place: 'coordinates', say: coordinatesFaultText }
  if (!isDay(first_day)) return faultOfField('first_day')
  if (last_day !== '' && !isDay(last_day))
    return { place: 'last_day', say: () => text('organise.make.day_fault') }
  if (last_day !== '' && last_day < first_day) return faultOfField('last_day')
  return /^[1-9]\d{0,8}$/.test(tokens.trim()) ? undefined : faultOfField('tokens')
}

function faultOfField(place: MakePlace): Fault {
  return { place, say: () => text(FIELD_FAULTS[place]) }
}

const FIELD_FAULTS = {
  name: 'organise.make.name_fault',
  description: 'organise.make.description_fault',
  first_day: 'organise.make.day_fault',
  last_day: 'organise.make.last_day_fault',
  tokens: 'organise.make.tokens_fault',
  picture: 'organise.make.picture_fault',
} as const satisfies Record<MakePlace, string>

function isMakePlace(place: RefusalPlace): place is MakePlace {
  return place in FIELD_FAULTS
}

function isDay(typed: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(typed) && Number(typed.slice(0, 4)) <= LAST_YEAR
}
