import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { waitUntilMs } from '../refusal-place.ts'

export interface Action {
  readonly isBusy: Signal<boolean>
  /** What the last run failed with; gone when the pause that the server wanted is over. */
  readonly fault: Signal<unknown>
  /** Runs it, unless it is running: a double press sends one request. */
  run(act: () => Promise<unknown>): Promise<void>
}

/** Something that a press does, with its failure. */
export function useAction(): Action {
  const isBusy = useSignal(false)
  const fault = useSignal<unknown>(undefined)
  useSignalEffect(() => {
    const waited = fault.value
    const waitMs = waitUntilMs(waited, 0)
    if (waitMs === undefined) return
    const timer = window.setTimeout(() => {
      if (fault.peek() === waited) fault.value = undefined
    }, waitMs)
    return () => window.clearTimeout(timer)
  })
  const run = async (act: () => Promise<unknown>) => {
    if (isBusy.peek()) return
    isBusy.value = true
    fault.value = undefined
    try {
      await act()
    } catch (error) {
      fault.value = error
    } finally {
      isBusy.value = false
    }
  }
  return { isBusy, fault, run }
}

/** Reads what a list shows at first. No press waits for it: what a press has changed or failed with meanwhile stays. */
export function useFirstRead<Data>(action: Action, read: () => Promise<Data>): Signal<Data | undefined> {
  const shown = useSignal<Data | undefined>(undefined)
  useEffect(() => {
    read().then(
      (first) => {
        shown.value ??= first
      },
      (fault) => {
        if (shown.peek() === undefined && !action.isBusy.peek()) action.fault.value ??= fault
      },
    )
  }, [])
  return shown
}
