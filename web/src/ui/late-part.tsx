import { LandpassError } from '@landpass/client'
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { Failure, Loading } from './notice.tsx'

/** A part of the page that is loaded when it is first shown. */
export function latePart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
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
