import { LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import type { QrCodeProps } from '../ui/qr-code.tsx'
import type { ChangeFormProps } from './change-form-props.ts'

/** The form that changes an event that was made here. */
export const LateChangeForm = latePart<ChangeFormProps>(
  async () => (await import('./change-part.ts')).ChangeForm,
)
/** The form that makes an event here, and the edit code of the event that it has made. */
export const LateMakeForm = latePart<object>(async () => (await import('./make-part.ts')).MakePart)

export const LateQrCode = latePart<QrCodeProps>(async () => (await import('../ui/qr-code.tsx')).QrCode)

/** A part of the page that is loaded when it is first shown. */
function latePart<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Part = signal<ComponentType<Props> | undefined>(undefined)
  const failure = signal<unknown>(undefined)

  async function begin(): Promise<void> {
    failure.value = undefined
    try {
      Part.value ??= await load()
    } catch {
      failure.value = new LandpassError('A part of the page could not be loaded.', { code: 'offline' })
    }
  }

  return function LatePart(props) {
    useEffect(() => void begin(), [])
    const Loaded = Part.value
    if (Loaded) return <Loaded {...props} />
    if (failure.value) return <Failure error={failure.value} onRetry={() => void begin()} />
    return <Loading label={text('asset.loading')} />
  }
}
