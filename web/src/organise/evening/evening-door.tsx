import './evening.css'
import type { EventInfo } from '@landpass/client'
import { LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { text } from '../../texts/texts.ts'
import { Busy } from '../busy.tsx'
import { EditCodeField } from '../edit-code-field.tsx'
import { fault, isBusy, isRefused } from '../form-state.ts'
import { isMadeHere } from '../made-here.ts'
import { useSecondsUntil } from '../seconds-until.ts'
import { StepFault } from '../step-fault.tsx'
import { closeEvening, closeWithEditCode, openEvening } from './evening-session.ts'

/** The part of the page that needs the edit code: loaded with the first code that is given. */
export const EveningPart = signal<ComponentType<{ onChanged(): void }> | undefined>(undefined)

/** Whether the organiser closed the evening by a press: then its form takes the focus. */
let wasForgotten = false

/** Forgets the edit code, and shows the form for it again. */
export function forgetEvening(): void {
  wasForgotten = true
  closeEvening()
}

/** Closes the evening when its event is left. */
export function useEveningEnd(): void {
  useEffect(() => {
    const stop = closeWithEditCode()
    return () => {
      stop()
      closeEvening()
    }
  }, [])
}

/** The form in which the organiser gives the edit code once for all that the evening needs. */
export function EveningDoor({ info }: { readonly info: EventInfo }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (wasForgotten) heading.current?.focus()
    wasForgotten = false
  }, [])
  const mustWait = useSecondsUntil(fault.value?.untilMs) > 0
  return (
    <form
      class="card evening-door"
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault()
        if (!mustWait) void openEvening(info, loadPart)
      }}
    >
      <h2 ref={heading} tabIndex={-1}>
        {text('evening.door.heading')}
      </h2>
      <p>{text('evening.door.explained')}</p>
      <EditCodeField isOwn={isMadeHere(info)} />
      <StepFault />
      <Busy label={text('evening.door.busy')} />
      <button type="submit" class="primary" disabled={mustWait} aria-disabled={isBusy.value}>
        {isRefused.value ? text('common.retry') : text('evening.door.open')}
      </button>
    </form>
  )
}

/** @throws {LandpassError} `offline` */
async function loadPart(): Promise<void> {
  try {
    EveningPart.value ??= (await import('./evening-part.ts')).Evening
  } catch {
    throw new LandpassError('A part of the page could not be loaded.', { code: 'offline' })
  }
}
