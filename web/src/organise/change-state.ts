import { attendance, type EventInfo, LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { text } from '../texts/texts.ts'
import { isChangeWaiting } from './change-waits.ts'
import { coordinatesText } from './coordinates.ts'
import { isEditCodeHeld } from './edit-code.ts'
import { isResting } from './evening/evening-session.ts'
import { attempt, clearFaultAt, type Fault, fault, faultAt, isBusy } from './fault-state.ts'
import { beginChange, finish } from './form-state.ts'
import { coordinatesFaultText, forgetPlaces, readPlaces } from './places-state.ts'
import { readCount } from './read-count.ts'
import { makePlaceOf } from './refusal-place.ts'
import { sendAsOrganiser } from './send-as-organiser.ts'
import { refusedTokensText } from './tokens-text.ts'

/** State of the form that changes an event made here. Its places are those of `places-state.ts`. */

/** The number of tokens, as typed. */
export const tokensText = signal('')

export const descriptionText = signal('')
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
  tokensText.value = String(total)
  descriptionText.value = info.description
  hidBefore = undefined
  hidesHolders.value = undefined
  const closed = new AbortController()
  void askHidden(info.uuid, closed.signal)
  return () => {
    closed.abort()
    forgetPlaces(String(info.id))
    fault.value = undefined
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

export function typeDescription(typed: string): void {
  descriptionText.value = typed
  clearFaultAt('description')
}

export function typeTokens(typed: string): void {
  tokensText.value = typed
  clearFaultAt('tokens')
}

/** Sends the form, then shows the live page. A failure is shown at the field that caused it, and clears nothing. */
export async function saveChange(
  { id, description: before, coordinates: placesBefore }: EventInfo,
  total: number,
  onSaved: () => void,
): Promise<void> {
  if (isBusy.value) return
  fault.value = faultOfForm(total)
  if (fault.value) return
  const tokens = readCount(tokensText.value)
  const description = descriptionText.value.trim()
  const coordinates = coordinatesText(readPlaces.value.places)
  const others = {
    ...(description !== before && { description }),
    ...(hidesHolders.value !== hidBefore && { hide_holders: hidesHolders.value === true }),
    ...(hasTokens(total) && tokens !== undefined && tokens !== total && { tokens }),
  }
  // Places as they are take back other ones that wait for the operator: they are sent where nothing else is
  const isOfPlaces = coordinates !== placesBefore || Object.keys(others).length === 0
  const change = { ...others, ...(isOfPlaces && { coordinates }) }
  await attempt(
    async () => {
      const event = await sendAsOrganiser(String(id), (credentials) =>
        attendance.changeEvent(id, credentials, change),
      )
      finish(event, { kind: isChangeWaiting(event) ? 'waits' : 'changed' }, isResting(event))
      onSaved()
    },
    (error) => {
      fault.value = faultOfRefusal(error, total)
    },
  )
}

/** The first field that the server would refuse, from above. */
function faultOfForm(total: number): Fault | undefined {
  if (!isEditCodeHeld.value) return { place: 'edit_code', say: () => text('organise.change.code_missing') }
  if (readPlaces.value.fault) return { place: 'coordinates', say: coordinatesFaultText }
  if (!hasTokens(total)) return undefined
  const tokens = readCount(tokensText.value)
  return tokens !== undefined && tokens >= total ? undefined : faultOfTokens(total)
}

function faultOfRefusal(error: unknown, total: number): Fault {
  // The server's own words are about the e-mail of an issuer outside
  if (error instanceof LandpassError && error.code === 'wrong_edit_code')
    return { place: 'edit_code', say: () => text('organise.change.wrong_code') }
  const place = makePlaceOf(error)
  if (place === 'description') return { place, say: () => text('organise.make.description_fault') }
  return place === 'tokens' ? faultOfTokens(total, error) : faultAt(place, error)
}

/** A number below that of the event, or one that the server refused. */
function faultOfTokens(total: number, error?: unknown): Fault {
  return {
    place: 'tokens',
    say: () => refusedTokensText(error, total) ?? text('organise.change.tokens_fault', { count: total }),
  }
}
