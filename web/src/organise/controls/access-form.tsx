import './controls.css'
import type { EventInfo } from '@landpass/client'
import { LandpassError } from '@landpass/client'
import { signal, useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { text } from '../../texts/texts.ts'
import { fillEditCode, heldEditCode, noteEditCode, takeCarriedCode } from '../edit-code.ts'
import { EditCodeField } from '../edit-code-field.tsx'
import { KeepCode } from '../keep-code.tsx'
import { dropKeptCode, keepCode, keptCode } from '../kept-codes.ts'
import { isMadeHere } from '../made-here.ts'
import { SentForm } from '../sent-form.tsx'
import type { ControlsProps } from './controls-props.ts'
import { controls, isResting, openControls, restControls, takeForgotten } from './controls-session.ts'

/** The part of the page that needs the edit code: loaded with the first code that is given. */
export const ControlsPart = signal<ComponentType<ControlsProps> | undefined>(undefined)

/** Goes on with the controls that were open before the event was changed, and lets them rest when the page is left. */
export function useControls(info: EventInfo): void {
  const isFilled = useRef<() => boolean>(() => false)
  useLayoutEffect(() => {
    // What was resting is the code that the organiser gave last
    const code = isResting(info) ? undefined : (takeCarriedCode(info.uuid) ?? keptCode(info.uuid))
    if (code !== undefined) {
      fillEditCode(code)
      isFilled.current = noteEditCode()
    }
    return restControls
  }, [])
  // After the next frame: until then the form that was here before is busy, and nothing would be opened
  useEffect(() => {
    if (isFilled.current() || isResting(info)) void openControls(info, loadPart)
  }, [])
}

/** The form in which the organiser gives the edit code once for all that the controls need. */
export function AccessForm({ info }: { readonly info: EventInfo }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const isOwn = isMadeHere(info)
  const isKept = useSignal(isOwn && keptCode(info.uuid) !== undefined)
  const open = async () => {
    const code = heldEditCode()
    await openControls(info, loadPart)
    if (isOwn && isKept.value && controls.peek()) keepCode(info.uuid, code)
  }
  // At once, also where the controls cannot be opened
  const chooseKept = (keeps: boolean) => {
    isKept.value = keeps
    if (!keeps) dropKeptCode(info.uuid)
  }
  useLayoutEffect(() => {
    if (takeForgotten()) heading.current?.focus()
  }, [])
  return (
    <SentForm
      class="card access-form"
      submit={text('controls.access.open')}
      busy={text('controls.access.busy')}
      onSend={() => void open()}
    >
      <h2 ref={heading} tabIndex={-1}>
        {text('controls.access.heading')}
      </h2>
      <p>{text('controls.access.explained')}</p>
      <EditCodeField isOwn={isOwn} account={info.name} />
      {isOwn && <KeepCode isKept={isKept.value} onChange={chooseKept} />}
    </SentForm>
  )
}

/** @throws {LandpassError} `offline` */
async function loadPart(): Promise<void> {
  try {
    ControlsPart.value ??= (await import('./controls-part.ts')).Controls
  } catch {
    throw new LandpassError('A part of the page could not be loaded.', { code: 'offline' })
  }
}
