import { LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import type { ChangeFormProps } from './change-form-props.ts'

const ChangeForm = signal<ComponentType<ChangeFormProps> | undefined>(undefined)
const failure = signal<unknown>(undefined)

/** The form that changes an event that was made here: it is loaded when it is first opened. */
export function LateChangeForm(props: ChangeFormProps) {
  useEffect(() => void load(), [])
  const Form = ChangeForm.value
  if (Form) return <Form {...props} />
  if (failure.value) return <Failure error={failure.value} onRetry={() => void load()} />
  return <Loading label={text('organise.live.loading')} />
}

async function load(): Promise<void> {
  failure.value = undefined
  try {
    ChangeForm.value ??= (await import('./change-part.ts')).ChangeForm
  } catch {
    failure.value = new LandpassError('A part of the page could not be loaded.', { code: 'offline' })
  }
}
