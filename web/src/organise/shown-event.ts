import { signal } from '@preact/signals'
import { STEPS, type Step } from './steps.ts'

/**
 * The address decides between the form (`/organise`) and the live page of an event (`/organise?event=<uuid or id>`),
 * which may be shared: it shows what everybody may see. The browser's way back leads through the steps of the form; its
 * history holds their names and nothing that was typed.
 */
export const shownEvent = signal(eventInAddress())

/** @param name uuid or id */
export function showEvent(name: string): void {
  push(name, null)
}

export function showForm(): void {
  push(undefined, null)
}

export function noteStep(step: Step): void {
  push(undefined, { step })
}

/** What a QR code and a bookmark hold. */
export function eventAddress(uuid: string): string {
  return `${location.origin}/organise?event=${encodeURIComponent(uuid)}`
}

/** Follows the browser's buttons. @returns to stop it */
export function followAddress(onStep: (step: Step) => void): () => void {
  const read = () => {
    shownEvent.value = eventInAddress()
    onStep(stepInHistory())
  }
  window.addEventListener('popstate', read)
  return () => window.removeEventListener('popstate', read)
}

function eventInAddress(): string | undefined {
  return new URLSearchParams(location.search).get('event')?.trim() || undefined
}

function stepInHistory(): Step {
  const noted = (history.state as { readonly step?: unknown } | null)?.step
  return STEPS.find((step) => step === noted) ?? 'event'
}

function push(name: string | undefined, state: { readonly step: Step } | null): void {
  const query = new URLSearchParams(location.search)
  if (name === undefined) query.delete('event')
  else query.set('event', name)
  const text = query.toString()
  history.pushState(state, '', text === '' ? '/organise' : `/organise?${text}`)
  shownEvent.value = name
}
