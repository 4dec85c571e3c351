import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export interface Loaded<Data> {
  readonly data: Data | undefined
  readonly error: unknown
  retry(): void
}

/**
 * Loads something once, and again on request. What was loaded stays until the next answer.
 *
 * @param key another one loads again
 * @param load undefined loads nothing
 */
export function useLoaded<Data>(
  key: string,
  load: ((signal: AbortSignal) => Promise<Data>) | undefined,
): Loaded<Data> {
  const state = useSignal<{ readonly data?: Data; readonly error?: unknown }>({})
  const tries = useSignal(0)
  useEffect(() => {
    if (!load) return undefined
    const aborting = new AbortController()
    load(aborting.signal).then(
      (data) => {
        state.value = { data }
      },
      (error) => {
        if (!aborting.signal.aborted) state.value = { error }
      },
    )
    return () => aborting.abort()
  }, [key, tries.value, load === undefined])
  const retry = () => {
    state.value = {}
    tries.value++
  }
  return { data: state.value.data, error: state.value.error, retry }
}
