import './evening.css'
import type { EventInfo } from '@landpass/client'
import { LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { text } from '../../texts/texts.ts'
import { EditCodeField } from '../edit-code-field.tsx'
import { isMadeHere } from '../made-here.ts'
import { SentForm } from '../sent-form.tsx'
import type { EveningProps } from './evening-props.ts'
import { closeWithEditCode, isResting, openEvening, restEvening, takeForgotten } from './evening-session.ts'

/** The part of the page that needs the edit code: loaded with the first code that is given. */
export const EveningPart = signal<ComponentType<EveningProps> | undefined>(undefined)

/** Goes on with the evening that was open before the event was changed, and lets it rest when its page is left. */
export function useEvening(info: EventInfo): void {
  useEffect(() => {
    const stop = closeWithEditCode()
    if (isResting(info)) void openEvening(info, loadPart)
    return () => {
      stop()
      restEvening()
    }
  }, [])
}

/** The form in which the organiser gives the edit code once for all that the evening needs. */
export function EveningDoor({ info }: { readonly info: EventInfo }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (takeForgotten()) heading.current?.focus()
  }, [])
  return (
    <SentForm
      class="card evening-door"
      submit={text('evening.door.open')}
      busy={text('evening.door.busy')}
      onSend={() => void openEvening(info, loadPart)}
    >
      <h2 ref={heading} tabIndex={-1}>
        {text('evening.door.heading')}
      </h2>
      <p>{text('evening.door.explained')}</p>
      <EditCodeField isOwn={isMadeHere(info)} />
    </SentForm>
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
