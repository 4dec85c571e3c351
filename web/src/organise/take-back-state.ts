import { attendance, type EventInfo } from '@landpass/client'
import { signal } from '@preact/signals'
import { askToken } from '../api/tokens.ts'
import { text } from '../texts/texts.ts'
import { isEditCodeHeld } from './edit-code.ts'
import { attempt, clearFaultAt, type Fault, fault, faultAt, isBusy } from './fault-state.ts'
import { takeBackPlaceOf } from './refusal-place.ts'
import { sendAsOrganiser } from './send-as-organiser.ts'
import { readTokenId } from './token-id.ts'

/** State of the form that takes a token back. */

/** As on the server. */
export const MAX_REASON_LENGTH = 200

/** The id of a token, or the address of its page, as typed. */
export const tokenText = signal('')
export const reasonText = signal('')
/** The token that was taken back last. */
export const takenBack = signal<{ readonly id: string; readonly number: number } | undefined>(undefined)

export function typeToken(typed: string): void {
  tokenText.value = typed
  takenBack.value = undefined
  clearFaultAt('token')
}

export function typeReason(typed: string): void {
  reasonText.value = typed
  clearFaultAt('reason')
}

export function clearTakeBack(): void {
  tokenText.value = ''
  reasonText.value = ''
  takenBack.value = undefined
}

/** Takes the token back, for good. A failure is shown at the field that caused it, and clears nothing. */
export async function takeBack(event: EventInfo): Promise<void> {
  if (isBusy.value) return
  fault.value = faultOfForm()
  const [typed, reason] = [tokenText.value, reasonText.value]
  const id = readTokenId(typed)
  if (fault.value || id === undefined) return
  takenBack.value = undefined
  await attempt(
    async () => {
      const token = await askToken(id)
      if (token.event.id !== event.id) {
        fault.value = { place: 'token', say: () => text('organise.take_back.other_event') }
        return
      }
      const { number } = await sendAsOrganiser(String(event.id), (credentials) =>
        attendance.revokeToken(id, credentials, reason.trim()),
      )
      // What was typed meanwhile stays
      if (tokenText.value === typed) {
        if (reasonText.value === reason) reasonText.value = ''
        tokenText.value = ''
      }
      takenBack.value = { id, number }
    },
    (error) => {
      const place = takeBackPlaceOf(error)
      fault.value =
        place === 'reason' ? faultOfReason() : place === 'edit_code' ? faultOfCode() : faultAt(place, error)
    },
    'take_back',
  )
}

function faultOfForm(): Fault | undefined {
  if (!isEditCodeHeld.value) return { place: 'edit_code', say: () => text('organise.change.code_missing') }
  if (readTokenId(tokenText.value) === undefined)
    return { place: 'token', say: () => text('organise.take_back.token_fault') }
  return reasonText.value.trim() === '' ? faultOfReason() : undefined
}

function faultOfReason(): Fault {
  return { place: 'reason', say: () => text('organise.take_back.reason_fault') }
}

function faultOfCode(): Fault {
  return { place: 'edit_code', say: () => text('organise.change.wrong_code') }
}
